import "./no-eval.ts";
import { element, renderKeyedList, setText } from "../../../../shared-canvas/src/page/keyed-list.ts";
import { openDecisionChannel } from "../decision-channel.ts";
import { toActivityLines } from "./activity-lines.ts";
import { createChat } from "./chat.ts";
import { openProposalDesk } from "./proposal-desk.ts";
import { showLog } from "./show-log.ts";

const desk = openProposalDesk(openDecisionChannel());
const chat = createChat({ url: new URL("/agui", location.href).href, desk, onChange: render });
const field = byId("text") as HTMLInputElement;

byId("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = field.value.trim();
  if (text === "" || !canSay()) return;
  field.value = "";
  chat.say(text);
});
for (const suggestion of document.querySelectorAll<HTMLButtonElement>(".suggestion"))
  suggestion.addEventListener("click", () => canSay() && chat.say(suggestion.textContent ?? ""));
byId("stop").addEventListener("click", () => chat.stop());
render();

function canSay(): boolean {
  return !chat.isRunning && !chat.isWaiting;
}

function render(): void {
  const { isRunning, isWaiting } = chat;
  setText(byId("status"), isRunning ? "Working" : isWaiting ? "Waits for you" : "Ready");
  showLog(byId("log"), chat.log.items, {
    find: desk.find,
    isAnswered: chat.isAnswered,
    onDecide: chat.decide,
    onSkip: chat.skip,
  });
  renderKeyedList({
    parent: byId("activity"),
    items: toActivityLines(chat.activity),
    keyOf: ({ key }) => key,
    create: ({ tone }) => element("li", `line-${tone}`),
    update: (line, { text, tone }) => {
      line.className = `line-${tone}`;
      setText(line, text);
    },
  });
  byId("stop").hidden = !isRunning;
  byId("send").hidden = isRunning;
  for (const button of document.querySelectorAll<HTMLButtonElement>(".suggestion, #send")) button.disabled = !canSay();
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found;
}
