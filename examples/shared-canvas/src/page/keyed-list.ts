export interface KeyedList<T> {
  parent: Element;
  items: readonly T[];
  keyOf: (item: T) => string;
  create: (item: T) => HTMLElement;
  update: (element: HTMLElement, item: T) => void;
}

/**
 * Makes the children of an element what the items say, in their order, and leaves every element that can stay where it
 * is: focus stays, transitions run on, and a screen reader hears of additions only.
 */
export function renderKeyedList<T>({ parent, items, keyOf, create, update }: KeyedList<T>): void {
  const known = new Map<string, HTMLElement>();
  for (const child of parent.children)
    if (child instanceof HTMLElement && child.dataset["key"] !== undefined) known.set(child.dataset["key"], child);
  const wanted = new Set(items.map(keyOf));
  for (const [key, element] of known) if (!wanted.has(key)) element.remove();
  let at = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    const element = known.get(key) ?? create(item);
    element.dataset["key"] = key;
    update(element, item);
    if (element === at) at = at.nextElementSibling;
    else parent.insertBefore(element, at);
  }
}

/** An element with a class and a text. The text is never read as markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  text = "",
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

/** Sets a text only where it differs, so that nothing is announced twice. */
export function setText(target: Element | null, text: string): void {
  if (target !== null && target.textContent !== text) target.textContent = text;
}
