import { canvasSize } from "./canvas-store.ts";

interface Position {
  readonly x: number;
  readonly y: number;
}

export interface DragHandlers {
  /** Where the card lies when the pointer goes down. */
  startOf(): Position | undefined;
  /** The pointer moved far enough to mean it. */
  onPickUp(): void;
  onDrag(to: Position): void;
  /** The end of every drag that began; nothing if it was broken off. */
  onDrop(to: Position | undefined): void;
}

/** Below this many pixels, a press is a click. */
const THRESHOLD = 3;

/** Lets a person drag an element with mouse, pen or finger. Escape breaks it off. */
export function makeDraggable(target: HTMLElement, { startOf, onPickUp, onDrag, onDrop }: DragHandlers): void {
  target.addEventListener("pointerdown", (down) => {
    const from = startOf();
    const isControl = down.target instanceof Element && down.target.closest("button, form") !== null;
    if (from === undefined || down.button !== 0 || isControl) return;
    let to: Position | undefined;
    const controller = new AbortController();
    const { signal } = controller;

    function finish(isDropped: boolean): void {
      controller.abort();
      target.classList.remove("dragging");
      if (to !== undefined) onDrop(isDropped ? to : undefined);
    }

    target.setPointerCapture(down.pointerId);
    target.addEventListener(
      "pointermove",
      (event) => {
        const dx = event.clientX - down.clientX;
        const dy = event.clientY - down.clientY;
        if (to === undefined) {
          if (Math.hypot(dx, dy) < THRESHOLD) return;
          target.classList.add("dragging");
          onPickUp();
        }
        to = {
          x: clamp(from.x + dx, canvasSize.width - canvasSize.cardWidth),
          y: clamp(from.y + dy, canvasSize.height - canvasSize.cardHeight),
        };
        onDrag(to);
      },
      { signal },
    );
    target.addEventListener("pointerup", () => finish(true), { signal });
    target.addEventListener("pointercancel", () => finish(false), { signal });
    target.addEventListener("lostpointercapture", () => finish(false), { signal });
    target.ownerDocument.addEventListener("keydown", ({ key }) => key === "Escape" && finish(false), { signal });
  });
}

function clamp(value: number, max: number): number {
  return Math.min(Math.max(0, value), max);
}
