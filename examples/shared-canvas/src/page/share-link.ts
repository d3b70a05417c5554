import { setText } from "./keyed-list.ts";

export interface ShareLinkElements {
  field: HTMLInputElement;
  button: HTMLButtonElement;
  /** Says that the link was copied; read out by screen readers. */
  message: HTMLElement;
}

/** Shows the share link, and copies it on a click. Without access to the clipboard, the link is selected instead. */
export function showShareLink(link: string, { field, button, message }: ShareLinkElements): void {
  field.value = link;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(link);
      setText(message, "Copied. Whoever has the link can join.");
    } catch {
      field.select();
      setText(message, "Selected: copy it with Ctrl C.");
    }
  });
}
