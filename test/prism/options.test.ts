import { createSurfaceToolset, type SurfaceToolsetOptions } from "@human-plus/adapter-prism";
import { createHarnessToolset } from "@human-plus/adapter-prism/harness";
import { TrustPolicy } from "@human-plus/core";
import { expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";

/** Options of hosts without types: nothing that was meant to protect somebody may be taken for its opposite. */
test.each([
  ["approval(...)", { approval: async () => true }],
  ["approval(...)", { approval: () => 1 }],
  ["approval(...)", { approval: () => undefined }],
  ["approval", { approval: "all" }],
  ["exclusive(...)", { exclusive: async () => true }],
  ["exclusive", { exclusive: "yes" }],
  ["redefined", { redefined: "refused" }],
  ["effect", { effect: { kind: "none" } }],
  ["naming", { naming: "x" }],
  ["changes", { changes: "yes" }],
  ["announce", { announce: 1 }],
  ["yieldToPerson", { yieldToPerson: "no" }],
  ["content", { content: "yes" }],
  ["question", { question: "May it?" }],
])("%s that is %o is refused by its name", async (name, wrong) => {
  await using canvas = await startLiveCanvas();
  const humanPlus = canvas.createClient();
  const { id } = await humanPlus.attach({
    owner: "me",
    invitation: canvas.invitation,
    participant: { name: "Tidy" },
    trust: TrustPolicy.everyTool(),
  });
  const options = { humanPlus, owner: "me", attachmentId: id, ...wrong } as unknown as SurfaceToolsetOptions;
  const refusal = { code: "invalid_argument", message: expect.stringContaining(`${name} should be`) };
  await expect(createSurfaceToolset(options)).rejects.toMatchObject(refusal);
  if (!["content", "question", "effect", "exclusive", "exclusive(...)"].includes(name))
    await expect(createHarnessToolset(options)).rejects.toMatchObject(refusal);
});
