/** One line of what happens on the canvas. Labels in it are untrusted: show it as text. */
export interface ActivityLine {
  readonly key: string;
  readonly text: string;
  readonly tone: "person" | "agent" | "refused" | "proposal";
}

type Fields = Readonly<Record<string, unknown>>;

const verbs = new Map([
  ["created", "added"],
  ["updated", "edited"],
  ["deleted", "deleted"],
  ["moved", "moved"],
]);

const tools = new Map([
  ["canvas_read", "read the canvas"],
  ["changes_since", "asked what changed"],
  ["canvas_move", "moved"],
  ["canvas_delete", "proposed to delete"],
]);

/** The surface's activity in plain words, the latest first. What cannot be read is left out. */
export function toActivityLines(content: unknown): ActivityLine[] {
  return Object.entries(fieldsOf(fieldsOf(content)["entries"]))
    .flatMap(([key, entry]) => {
      const line = describe(fieldsOf(entry));
      return line === undefined ? [] : [{ key, ...line }];
    })
    .reverse();
}

function describe(entry: Fields): Omit<ActivityLine, "key"> | undefined {
  switch (entry["type"]) {
    case "person_acted":
      return { tone: "person", text: Number(entry["count"]) > 1 ? `You acted, ${entry["count"]} times` : "You acted" };
    case "changed": {
      const rows = rowsOf(entry);
      return rows === "" ? undefined : { tone: "person", text: `${rows.charAt(0).toUpperCase()}${rows.slice(1)}` };
    }
    case "call":
      return describeCall(entry);
    case "proposal":
      return {
        tone: "proposal",
        text: entry["standing"] === "proposed" ? "A proposal waits for you" : `A proposal was ${entry["standing"]}`,
      };
    case "availability":
      return entry["available"] === false ? { tone: "refused", text: "The canvas cannot be reached" } : undefined;
    default:
      return undefined;
  }
}

function describeCall(entry: Fields): Omit<ActivityLine, "key"> | undefined {
  const handle = fieldsOf(entry["arguments"])["handle"];
  const did = [tools.get(String(entry["tool"])) ?? `called ${entry["tool"]}`, handle]
    .filter((part) => part !== undefined)
    .join(" ");
  switch (entry["state"]) {
    case "finished":
      return { tone: "agent", text: `Tidy ${did}` };
    case "failed":
      return { tone: "refused", text: `The canvas declined: Tidy would have ${did}` };
    case "refused": {
      const rows = rowsOf(entry);
      return { tone: "refused", text: `Refused, nothing written: Tidy would have ${did}${rows && `, but ${rows}`}` };
    }
    default:
      return undefined;
  }
}

function rowsOf(entry: Fields): string {
  const rows = Array.isArray(entry["rows"]) ? entry["rows"].map(fieldsOf) : [];
  // What the agent itself did stands in its calls.
  const ofOthers = rows.filter(({ actor, label, handle }) => actor !== "agent" && (label ?? handle) !== undefined);
  const texts = ofOthers.map(
    ({ handle, kind, actor, label }) =>
      `${actor === "human" ? "you" : "somebody else"} ${verbs.get(String(kind)) ?? "changed"} ${label ?? handle}`,
  );
  return [...new Set(texts)].join(", ");
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
