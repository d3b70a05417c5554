import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { type Example, readExamples, strayExpectations } from "./contract/example-files.ts";
import { parserOf } from "./contract/parser-table.ts";
import {
  compilePlain,
  definitions,
  isNormalising,
  plainValidator,
  type Schema,
  schemaExamples,
  specDirectory,
} from "./contract/plain-schema.ts";

const valid = readExamples("valid");
const invalid = readExamples("invalid");

describe("examples of the contract", () => {
  test("there are enough of them, and none is an expectation without its example", () => {
    expect(valid.length + invalid.length).toBeGreaterThanOrEqual(80);
    expect(strayExpectations()).toEqual([]);
  });

  test("every definition has a valid and an invalid one", () => {
    const names = Object.keys(definitions);
    const missing = (examples: typeof valid) =>
      names.filter((name) => !examples.some(({ definition }) => definition === name));
    expect({ valid: missing(valid), invalid: missing(invalid) }).toEqual({ valid: [], invalid: [] });
  });

  test("those of a definition that normalises say what comes out, the others come out as they are", () => {
    const wrong = valid.filter(({ definition, hasExpected }) => hasExpected !== isNormalising(definition));
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });

  test.each(named(valid))("%s is accepted", (_, { definition, value, expected }) => {
    const { safeParse, parse } = parserOf(definition);
    const parsed = safeParse(value);
    expect(parsed).toMatchObject({ ok: true });
    if (!parsed.ok) return;
    expect(parse(value)).toEqual(parsed.value);
    if (isNormalising(definition)) expect(parsed.value).toEqual(expected);
    else expect(parsed.value).toBe(value);
    expectPlain(definition, parsed.value).toBe(true);
    expect(safeParse(parsed.value)).toMatchObject({ ok: true, value: parsed.value });
  });

  test.each(named(invalid))("%s is refused", (_, { definition, value }) => {
    const { safeParse } = parserOf(definition);
    const parsed = safeParse(value);
    expect(parsed.ok).toBe(false);
    if (parsed.ok) return;
    expect(parsed.issues.length).toBeGreaterThan(0);
    if (!isNormalising(definition)) expectPlain(definition, value).toBe(false);
  });
});

interface AsyncApiMessage {
  readonly payload?: Schema;
  readonly examples?: ReadonlyArray<{ readonly payload: unknown }>;
}

const relay = parseYaml(readFileSync(join(specDirectory, "relay.asyncapi.yaml"), "utf8"));
const messages = Object.entries(relay.components.messages as Record<string, AsyncApiMessage>).flatMap(
  ([name, { payload, examples = [] }]) =>
    examples.map((example, index) => ({ name, index, payload, value: example.payload })),
);

describe("examples inside the AsyncAPI document", () => {
  test("there are some", () => {
    expect(messages.length).toBeGreaterThan(10);
  });

  test.each(messages)("$name, number $index, is what its payload says", ({ payload, value }) => {
    expect(payload, "a message with examples has a payload").toBeDefined();
    if (payload === undefined) return;
    const validate = compilePlain(payload);
    expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
    const name = /^\.\/surface\.schema\.json#\/definitions\/(\w+)$/.exec(String(payload["$ref"]))?.[1];
    if (name !== undefined) expect(parserOf(name).safeParse(value)).toMatchObject({ ok: true });
  });

  test("the sessions it shows are sessions", () => {
    const { session } = relay.components.parameters as { session: { examples: string[] } };
    expect(session.examples.length).toBeGreaterThan(0);
    for (const example of session.examples) expect(parserOf("SessionId").safeParse(example).ok).toBe(true);
  });
});

describe("examples inside the schema", () => {
  const found = Object.entries(definitions).flatMap(([name, schema]) => [
    ...schemaExamples(schema, `/definitions/${name}`),
  ]);

  test("are found wherever they stand", () => {
    const schema = { properties: { examples: { items: { oneOf: [{}, { examples: [1] }] } } }, examples: [2] };
    expect([...schemaExamples(schema, "")]).toEqual([
      { pointer: "", value: 2 },
      { pointer: "/properties/examples/items/oneOf/1", value: 1 },
    ]);
  });

  test("each is what its schema says", () => {
    const refused = found.filter(({ pointer, value }) => !plainValidator(pointer)(value));
    expect(refused).toEqual([]);
  });

  test("each of a whole definition is parsed", () => {
    const refused = found.filter(({ pointer, value }) => {
      const name = /^\/definitions\/(\w+)$/.exec(pointer)?.[1];
      return name !== undefined && !parserOf(name).safeParse(value).ok;
    });
    expect(refused).toEqual([]);
  });
});

/** The whole path in the name of the test: a `$file` in it would be cut. */
function named(examples: readonly Example[]): Array<[string, Example]> {
  return examples.map((example) => [example.file, example]);
}

function expectPlain(definition: string, value: unknown) {
  const validate = plainValidator(`/definitions/${definition}`);
  const accepted = validate(value);
  return expect(accepted, JSON.stringify(validate.errors));
}
