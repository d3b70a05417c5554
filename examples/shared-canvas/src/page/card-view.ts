import type { Canvas } from "./canvas.ts";
import { type Card, cardLimits } from "./canvas-store.ts";
import { makeDraggable } from "./drag.ts";
import { element, renderKeyedList, setText } from "./keyed-list.ts";

export interface CardView {
  /** Opens the editor of a card. */
  edit(handle: string): void;
  focus(handle: string): void;
}

const STEP = 8;
const LARGE_STEP = 40;

/** Shows the cards, and turns what a person does with pointer and keys into changes of the canvas. */
export function showCards(canvas: Canvas, parent: HTMLElement): CardView {
  const { store } = canvas;
  const elementOf = (handle: string) =>
    [...parent.children].find((child): child is HTMLElement => (child as HTMLElement).dataset["key"] === handle);

  function create({ handle }: Card): HTMLElement {
    const card = element("article", "card");
    card.tabIndex = 0;
    card.setAttribute("role", "group");
    card.setAttribute("aria-roledescription", "card");
    card.setAttribute("aria-describedby", "keys");
    const remove = element("button", "remove", "×");
    remove.type = "button";
    remove.tabIndex = -1; // the Delete key does it on a focused card
    remove.addEventListener("click", () => canvas.remove(handle));
    card.append(element("h3", "title"), element("p", "text"), element("p", "hand"), remove);
    card.addEventListener("dblclick", () => edit(handle));
    card.addEventListener("keydown", (event) => onKey(event, handle));
    makeDraggable(card, {
      startOf: () => store.find(handle),
      onPickUp: () => canvas.pickUp(handle),
      onDrop(to) {
        canvas.release(handle);
        if (to !== undefined) canvas.move(handle, to);
        place(card, store.find(handle));
      },
      onDrag: (to) => place(card, to),
    });
    return card;
  }

  function update(card: HTMLElement, { handle, title, text, x, y }: Card): void {
    setText(card.querySelector(".title"), title);
    setText(card.querySelector(".text"), text);
    card.querySelector(".remove")?.setAttribute("aria-label", `Delete ${title}`);
    card.setAttribute("aria-label", text === "" ? title : `${title}. ${text}`);
    card.classList.toggle("held", store.state.held.has(handle));
    if (!card.classList.contains("dragging")) place(card, { x, y });
  }

  function onKey(event: KeyboardEvent, handle: string): void {
    const card = store.find(handle);
    if (event.target !== event.currentTarget || card === undefined || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const step = event.shiftKey ? LARGE_STEP : STEP;
    const directions: Record<string, readonly [number, number]> = {
      ArrowLeft: [-step, 0],
      ArrowRight: [step, 0],
      ArrowUp: [0, -step],
      ArrowDown: [0, step],
    };
    const direction = directions[event.key];
    if (direction !== undefined) canvas.move(handle, { x: card.x + direction[0], y: card.y + direction[1] });
    else if (event.key === "Enter") edit(handle);
    else if (event.key === "Delete" || event.key === "Backspace") removeAndFocusNext(handle);
    else return;
    event.preventDefault();
  }

  function removeAndFocusNext(handle: string): void {
    const { cards } = store.state;
    const index = cards.findIndex((card) => card.handle === handle);
    const next = cards[index + 1] ?? cards[index - 1];
    canvas.remove(handle);
    if (next !== undefined) focus(next.handle);
  }

  function focus(handle: string): void {
    elementOf(handle)?.focus();
  }

  function edit(handle: string): void {
    const card = elementOf(handle);
    const before = store.find(handle);
    if (card === undefined || before === undefined || card.querySelector("form") !== null) return;
    const form = element("form", "editor");
    const title = element("input", "");
    title.value = before.title;
    title.maxLength = cardLimits.title;
    title.setAttribute("aria-label", "Title");
    const text = element("textarea", "");
    text.value = before.text;
    text.maxLength = cardLimits.text;
    text.setAttribute("aria-label", "Text");
    form.append(title, text);
    let isDone = false;
    const finish = (isSaved: boolean, returnsFocus: boolean) => {
      if (isDone) return;
      isDone = true;
      canvas.release(handle);
      if (isSaved) canvas.edit(handle, { title: title.value.trim() || "Untitled", text: text.value.trim() });
      form.remove();
      card.classList.remove("editing");
      if (returnsFocus) card.focus();
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      finish(true, true);
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") finish(false, true);
      else if (event.key === "Enter" && event.target === text && !event.shiftKey) finish(true, true);
      else if (event.key === "Enter" && event.target === title) finish(true, true);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    form.addEventListener("focusout", (event) => {
      if (!form.contains(event.relatedTarget as Node | null)) finish(true, false);
    });
    canvas.hold(handle);
    card.classList.add("editing");
    card.append(form);
    title.focus();
    title.select();
  }

  function render(): void {
    renderKeyedList({ parent, items: store.state.cards, keyOf: ({ handle }) => handle, create, update });
  }

  store.subscribe(render);
  render();
  return { edit, focus };
}

function place(card: HTMLElement, at: { x: number; y: number } | undefined): void {
  if (at === undefined) return;
  card.style.transform = `translate(${at.x}px, ${at.y}px)`;
}
