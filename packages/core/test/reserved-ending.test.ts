import { describe, expect, test } from "vitest";
import { safeParseToolName } from "../src/gen/parsers.ts";
import { isReserved } from "../src/parse/reserved-ending.ts";
import { definitions } from "./contract/plain-schema.ts";

const keyword = definitions["ToolName"]?.["x-reserved-endings"] as {
  words: string[];
  separators: string;
  hump: boolean;
  strip: string[];
};
const rule = { ...keyword, strip: keyword.strip.join("") };

// PROTOCOL.md section 7.
describe("names that belong to people", () => {
  test("are the five words of the contract", () => {
    expect(rule.words).toEqual(["confirm", "reject", "accept", "approve", "deny"]);
    expect(rule.separators).toBe("_.:-");
  });

  test.each(rule.words)("%s, alone, after every separator and at a hump, in any case", (word) => {
    const capital = word.charAt(0).toUpperCase() + word.slice(1);
    const reserved = [word, capital, word.toUpperCase()].flatMap((spelling) => [
      spelling,
      ...[...rule.separators].map((separator) => `draft${separator}${spelling}`),
    ]);
    reserved.push(`terminal${capital}`, `step2${capital}`, `URL${capital}`, `draft${word.toUpperCase()}`);
    for (const name of reserved) {
      expect(isReserved(name, rule), name).toBe(true);
      expect(safeParseToolName(name).ok, name).toBe(false);
    }
    const ordinary = [
      `pre${word}`,
      `PRE${word.toUpperCase()}`,
      `${word}_status`,
      `${word}ation`,
      `${word}2`,
      `${word}s`,
    ];
    for (const name of ordinary) {
      expect(isReserved(name, rule), name).toBe(false);
      expect(safeParseToolName(name), name).toMatchObject({ ok: true });
    }
  });

  test.each([
    "preconfirm",
    "confirmation_status",
    "surface_write",
    "confirm_delete",
    "Preconfirm",
    "undeny",
    "unACCEPTable",
    "reCONFIRMed",
    "con_firm",
  ])("%s is an ordinary name", (name) => {
    expect(isReserved(name, rule)).toBe(false);
    expect(safeParseToolName(name).ok).toBe(true);
  });

  test("are found behind every invisible character at either end", () => {
    for (const invisible of keyword.strip) {
      expect(isReserved(`${invisible}${invisible}confirm${invisible}`, rule)).toBe(true);
      expect(isReserved(`terminal.confirm${invisible}`, rule)).toBe(true);
      expect(isReserved(`con${invisible}firm`, rule)).toBe(false);
    }
    expect(isReserved(keyword.strip.join(""), rule)).toBe(false);
    expect(isReserved("", rule)).toBe(false);
  });

  test("stay reserved after characters that grow in lower case", () => {
    expect(isReserved("\u0130.confirm", rule)).toBe(true);
    expect(isReserved("\u0130Confirm", rule)).toBe(true);
  });

  test("know humps only where the rule says so", () => {
    expect(isReserved("terminalConfirm", { ...rule, hump: false })).toBe(false);
    expect(isReserved("terminal_Confirm", { ...rule, hump: false })).toBe(true);
  });
});
