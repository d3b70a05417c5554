import { TrustPolicy } from "@human-plus/core";
import { joinCanvas } from "../agent/join-canvas.ts";
import { codeOf, type Stage } from "./stage.ts";

/** Before trust is declared nothing reaches the relay, not even a connection; afterwards the handshake does. */
export async function playTrustScene({ tap, expect, transcript }: Stage): Promise<void> {
  transcript.title("Nothing is sent before trust is declared");
  const participant = { name: "Stranger" };
  const stranger = await joinCanvas({ shareLink: tap.shareLink, participant, trust: TrustPolicy.undeclared });
  const { session, humanPlus } = stranger;
  const codes = [
    await codeOf(session.tools()),
    await codeOf(session.call("canvas_read")),
    await codeOf(session.changesSince()),
    await codeOf(session.announce({ action: "Looking around" })),
  ];
  expect.equal(
    "tools, call, changesSince and announce are refused",
    codes,
    codes.map(() => "trust_undeclared"),
  );
  expect.equal("the relay saw no connection of the agent", tap.connections, 0);
  expect.equal("and not one byte: no initialize, no tools/list", tap.sent(), "");
  await humanPlus.close();

  const trusted = await joinCanvas({ shareLink: tap.shareLink, participant });
  const tools = await trusted.session.tools();
  expect.equal("once trust is declared, the page's tools are listed", tools.map(({ name }) => name).toSorted(), [
    "canvas_add",
    "canvas_delete",
    "canvas_edit",
    "canvas_move",
    "canvas_read",
    "changes_since",
  ]);
  const methods = tap.requests().filter((request) => !request.includes(" "));
  expect.equal("and this is what the relay carried", methods, [
    "initialize",
    "notifications/initialized",
    "tools/list",
  ]);
  await trusted[Symbol.asyncDispose]();
}
