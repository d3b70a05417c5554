import { parseCanvas } from "../../../shared-canvas/src/agent/canvas-reading.ts";
import { callEnd, proposalEnd } from "../call-words.ts";
import { type Exchange, framedObject } from "./conversation.ts";
import type { Move, Say } from "./next-move.ts";

const says = (text: string): Say => ({ type: "say", text });

/** Proposes to delete the card that the request names, or else one that says of itself that it is old. A person decides. */
export function cleanUp({ request, calls }: Exchange): Move {
  const [reading, proposed] = calls;
  if (reading === undefined) return { type: "call", step: "Read the canvas", tool: "canvas_read", args: {} };
  if (callEnd(reading.answer).state !== "done") return says("I cannot read the canvas now.");
  const { cards } = parseCanvas(framedObject(reading.answer));
  const card = proposed
    ? cards.find(({ handle }) => handle === proposed.args["handle"])
    : (cards.find(({ title }) => request.toLowerCase().includes(title.toLowerCase())) ??
      (/\b(delete|remove)\b/i.test(request) ? undefined : cards.find(({ title }) => /^old\b/i.test(title))));
  if (card === undefined) return says("There is no such card, so there is nothing to delete.");
  const { handle, title } = card;
  if (proposed === undefined)
    return {
      type: "call",
      step: `Propose to delete ${title}`,
      tool: "canvas_delete",
      args: { handle },
      target: handle,
    };
  switch (proposalEnd(proposed.answer)) {
    case "accepted":
      return says(`You accepted, so ${title} is deleted.`);
    case "rejected":
      return says(`You rejected it, so ${title} stays. I will not propose it again unasked.`);
    case "expired":
      return says(`Nobody decided in time, so ${title} stays.`);
    case "stale":
      return says(
        `${title} changed before you accepted, so I deleted nothing. Ask me again if you still want it gone.`,
      );
    default:
      return callEnd(proposed.answer).state === "done"
        ? says(`I do not know what became of my proposal to delete ${title}: look at the canvas.`)
        : says(`I cannot propose to delete ${title}: somebody just changed it.`);
  }
}
