import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startRelay } from "@human-plus/relay";
import { connectSurface, createInvitation, createSurface, toShareLink } from "@human-plus/surface";
import { describe, expect, test } from "vitest";
import { createCanvas } from "../examples/shared-canvas/src/page/canvas.ts";
import { createCanvasStore } from "../examples/shared-canvas/src/page/canvas-store.ts";
import { offerCanvasTools } from "../examples/shared-canvas/src/page/canvas-tools.ts";
import { firstCards } from "../examples/shared-canvas/src/page/first-cards.ts";

const root = join(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");

/** What a person does once the visitor has told that it is about to move the card. */
type OnAnnounced = (canvas: ReturnType<typeof createCanvas>, handle: string) => void;

/** Runs the README's script, as it stands, against the demo's canvas on a real relay. */
async function runExample(onAnnounced: OnAnnounced) {
  await using relay = await startRelay();
  const store = createCanvasStore(firstCards);
  const surface = createSurface({ id: "surface", application: "shared-canvas" });
  offerCanvasTools({ store, surface });
  const canvas = createCanvas({ store, surface });
  const invitation = createInvitation({ relayBaseUrl: relay.url, surfaceId: "surface", application: "shared-canvas" });
  await using connection = connectSurface(surface, invitation);
  await connection.opened();
  let announced: { name: string | undefined; action: string } | undefined;
  surface.subscribe(() => {
    const [{ name, activity } = { name: undefined, activity: undefined }] = surface.getSnapshot().participants;
    if (activity?.target === undefined || announced !== undefined) return;
    announced = { name, action: activity.action };
    queueMicrotask(() => onAnnounced(canvas, String(activity.target)));
  });

  const example = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const script = join(root, `readme-example-${crypto.randomUUID()}.mjs`);
  writeFileSync(script, example);
  try {
    const args = ["--conditions=human-plus-source", script, toShareLink(invitation)];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    const [code] = await once(child, "close");
    return { code, output, announced, store };
  } finally {
    rmSync(script, { force: true });
    surface.close();
  }
}

describe("the example in the README", () => {
  test.concurrent("joins by the share link, is seen, and moves a card", async () => {
    const { code, output, announced, store } = await runExample(() => undefined);
    expect({ code, announced }).toEqual({
      code: 0,
      announced: { name: "Visitor", action: "About to move Budget" },
    });
    expect(output).toContain('"title":"Travel"');
    expect(output).toMatch(/^Budget moved$/m);
    expect(store.find("budget")).toMatchObject({ x: 790, y: 460 });
  });

  test.concurrent("is refused when a person moves the card first, and is told who it was", async () => {
    const { code, output, store } = await runExample((canvas, handle) => canvas.move(handle, { x: 11, y: 12 }));
    expect(code).toBe(0);
    expect(output).toMatch(/^Budget surface_changed_under_you$/m);
    expect(output).toContain("moved by a person");
    expect(store.find("budget")).toMatchObject({ x: 11, y: 12 });
  });
});

test("every link and picture of the READMEs leads somewhere", () => {
  for (const file of ["README.md", "examples/shared-canvas/README.md", "examples/ag-ui-canvas/README.md"]) {
    const text = readFileSync(join(root, file), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      expect(existsSync(join(root, dirname(file), target)), `${file}: ${target}`).toBe(true);
  }
});
