import { createResultGuard } from "@human-plus/core";
import { describe, expect, test } from "vitest";
import { boundText, cut, utf8Bytes } from "./bounded-text.ts";

const guard = createResultGuard({ maxBytes: 1_000_000 });
const frame = (text: string) => guard.frame(text, { source: "canvas/board", tool: "read" });

describe("a text that has to fit", () => {
  test("stays as it is when it fits", () => {
    const text = `ours\n${frame("theirs")}`;
    expect(boundText(text, utf8Bytes(text))).toBe(text);
  });

  test("loses what the surface says before what the SDK says, and no frame loses its end", () => {
    const long = frame("ä".repeat(5000));
    const short = frame("short");
    const bounded = boundText(["before", long, "between", short, "after"].join("\n"), 2000);
    expect(utf8Bytes(bounded)).toBeLessThanOrEqual(2000);
    expect(bounded).toMatch(/^before\n/);
    expect(bounded).toMatch(/\nafter$/);
    expect(bounded).toContain(short);
    expect(bounded).toContain("ä [shortened]\n</surface-data nonce=");
    expect(bounded).not.toContain("\ufffd");
    const nonces = [...bounded.matchAll(/^<surface-data .* nonce="(\w+)">$/gm)].map(([, nonce]) => nonce);
    expect(nonces).toHaveLength(2);
    for (const nonce of nonces) expect(bounded).toContain(`\n</surface-data nonce="${nonce}">`);
  });

  test("is not led astray by lines of a frame inside a frame", () => {
    const other = "0123456789abcdef";
    const inside = `<surface-data source="x" tool="y" nonce="${other}">\n${"x".repeat(3000)}\n</surface-data nonce="${other}">`;
    const bounded = boundText(`before\n${frame(`${inside}\n${inside}`)}\nafter`, 1000);
    expect(utf8Bytes(bounded)).toBeLessThanOrEqual(1000);
    expect(bounded.match(/<\/surface-data/g)).toHaveLength(1);
    expect(bounded).toMatch(/\nafter$/);
  });

  test("keeps the SDK's own words alone where there is no room for a frame", () => {
    expect(boundText(`before\n${frame("x".repeat(300))}`, 100)).toBe("before");
  });

  test("is cut between characters", () => {
    expect(cut("aé😀".repeat(10), 20)).toBe("aé😀a [shortened]");
    expect(utf8Bytes(cut("😀".repeat(10), 17))).toBeLessThanOrEqual(17);
  });
});
