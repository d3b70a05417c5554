/** What a body holds, read as strictly as the specification has producers write it. */
export interface SseBody {
  readonly events: readonly unknown[];
  /** What is wrong with the framing. */
  readonly faults: readonly string[];
}

/** Splits at LF LF and nowhere else. Comments, `id:` and `event:` lines are fine; carriage returns, sentinels and half frames are not. */
export function readSseBody(text: string): SseBody {
  const faults: string[] = [];
  const events: unknown[] = [];
  if (text.startsWith("\uFEFF")) faults.push("the body begins with a byte order mark");
  if (text.includes("\r")) faults.push("the body has carriage returns: frames end with LF LF");
  const frames = text.split("\n\n");
  const rest = frames.pop() ?? "";
  if (rest !== "") faults.push(`the body ends in the middle of a frame: ${excerpt(rest)}`);
  for (const [index, frame] of frames.entries()) {
    const lines = frame.split("\n").filter((line) => line !== "");
    const unknown = lines.find((line) => !/^(:|data:|id:|event:|retry:)/.test(line));
    if (unknown !== undefined) faults.push(`frame ${index} has a line that is no field: ${excerpt(unknown)}`);
    const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).replace(/^ /, ""));
    if (data.length === 0) continue;
    try {
      events.push(JSON.parse(data.join("\n")));
    } catch {
      faults.push(`frame ${index} is no JSON: ${excerpt(data.join("\n"))}`);
    }
  }
  return { events, faults };
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}
