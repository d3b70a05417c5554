/** Calls what belongs to a key (`n`, `ctrl+z`), unless the key is meant for a field somebody writes in. */
export function onKeyOutsideFields(actions: Readonly<Record<string, () => void>>): void {
  document.addEventListener("keydown", (event) => {
    if (event.target instanceof Element && event.target.closest("input, textarea") !== null) return;
    if (event.altKey) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const action = actions[`${isCommand ? "ctrl+" : ""}${event.key.toLowerCase()}`];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
