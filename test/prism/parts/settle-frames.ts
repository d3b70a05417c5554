import type { HumanPlus } from "@human-plus/core";
import { methods } from "@human-plus/core/protocol";
import type { ScriptedSurface } from "../../parts/scripted-surface.ts";

/** Says that the tools changed, so that the agent's process is known to have heard everything sent before. */
export async function settleFrames(surface: ScriptedSurface, humanPlus: HumanPlus): Promise<void> {
  const noticed = new Promise<void>((resolve) => {
    const stop = humanPlus.on("catalogueChanged", () => {
      stop();
      resolve();
    });
  });
  await surface.send({ jsonrpc: "2.0", method: methods.toolsListChanged });
  await noticed;
}
