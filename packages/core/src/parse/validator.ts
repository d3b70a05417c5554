import { describeValue, type Issue, type Notes, type Place, pointerOf } from "./issue.ts";

/** One complaint of a compiled validator, in Ajv's form. */
interface ValidationError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A check compiled ahead of time. `errors` holds the complaints of the last call. */
export interface Validator {
  (value: unknown): boolean;
  errors?: readonly ValidationError[] | null;
}

/** Reads a value or refuses it with `undefined`, telling `notes` why. */
export interface Read<T> {
  (input: unknown, place: Place | undefined, notes: Notes): T | undefined;
  /** Whether the value is taken as it is: the short way for what is in order. Absent where reading makes a new value. */
  accepts?: (input: unknown) => boolean;
}

/** A reader that takes the value as it is if the validator accepts it. */
export function checked<T>(validate: Validator): Read<T> {
  const read: Read<T> = (input, place, notes) => {
    if (validate(input)) return input as T;
    return notes.refuse(explain(validate, input, place));
  };
  read.accepts = validate;
  return read;
}

/** A reader that chooses its validator by the keys that are there: the first entry whose keys the input all has. */
export function selected<T>(choices: ReadonlyArray<readonly [keys: readonly string[], validate: Validator]>): Read<T> {
  const entries = choices.map(([keys, validate]) => ({ keys, validate }));
  const choose = (input: unknown): Validator | undefined => {
    for (let index = 0; index < entries.length; index++) {
      const { keys, validate } = entries[index] as (typeof entries)[number];
      if (hasAll(input, keys)) return validate;
    }
    return undefined;
  };
  const read: Read<T> = (input, place, notes) => {
    const validate = choose(input);
    if (validate !== undefined) {
      return validate(input) ? (input as T) : notes.refuse(explain(validate, input, place));
    }
    return notes.refuse({
      pointer: pointerOf(place),
      rule: "oneOf",
      expected: "object",
      received: describeValue(input),
    });
  };
  read.accepts = (input) => choose(input)?.(input) === true;
  return read;
}

/** A reader that chooses its validator by the value of one member. */
export function tagged<T>(tag: string, choices: ReadonlyMap<string, Validator>): Read<T> {
  return (input, place, notes) => {
    if (!hasOwn(input, tag)) {
      const expected = typeof input === "object" && input !== null ? `${tag} to be there` : "object";
      return notes.refuse({ pointer: pointerOf(place), rule: "required", expected, received: describeValue(input) });
    }
    const validate = choices.get(input[tag] as string);
    if (validate === undefined) {
      const expected = `one of ${[...choices.keys()].join(", ")}`;
      return notes.refuse({
        pointer: pointerOf({ parent: place, key: tag }),
        rule: "enum",
        expected,
        received: describeValue(input[tag]),
      });
    }
    if (validate(input)) return input as T;
    return notes.refuse(explain(validate, input, place));
  };
}

/** A member that is undefined is none, as everywhere in JSON Schema. To find none is faster than to ask who owns it. */
function hasAll(value: unknown, keys: readonly string[]): boolean {
  if (keys.length === 0) return true;
  if (typeof value !== "object" || value === null) return false;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if ((value as Record<string, unknown>)[key] === undefined || !Object.hasOwn(value, key)) return false;
  }
  return true;
}

/** Whether a value is an object that has this key itself. */
export function hasOwn<K extends string>(value: unknown, key: K): value is Record<K, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, key);
}

/** The issue behind a validator's last refusal. Alternatives that failed at the same place are named together. */
export function explain(validate: Validator, input: unknown, place: Place | undefined): Issue {
  const errors = validate.errors ?? [];
  const [first] = errors;
  if (first === undefined)
    return { pointer: pointerOf(place), rule: "false", expected: "nothing", received: describeValue(input) };
  const here = errors.filter(
    ({ instancePath, keyword }) => instancePath === first.instancePath && keyword !== "oneOf" && keyword !== "anyOf",
  );
  const expected = [...new Set((here.length > 0 ? here : [first]).map(expectation))].join(" or ");
  const received = first.keyword === "required" ? "nothing" : describeValue(at(input, first.instancePath));
  const missing = first.keyword === "required" ? `/${String(first.params["missingProperty"])}` : "";
  return { pointer: pointerOf(place, first.instancePath + missing), rule: first.keyword, expected, received };
}

function expectation({ keyword, params }: ValidationError): string {
  const limit = String(params["limit"]);
  switch (keyword) {
    case "type":
      return String(params["type"]);
    case "required":
      return `${String(params["missingProperty"])} to be there`;
    case "const":
      return JSON.stringify(params["allowedValue"]);
    case "enum":
      return `one of ${(params["allowedValues"] as unknown[]).map(String).join(", ")}`;
    case "pattern":
      return `text that matches ${String(params["pattern"])}`;
    case "minLength":
      return `at least ${limit} characters`;
    case "maxLength":
      return `at most ${limit} characters`;
    case "maxItems":
      return `at most ${limit} elements`;
    case "minimum":
    case "maximum":
      return `a number ${String(params["comparison"])} ${limit}`;
    case "false schema":
      return "nothing there";
    case "x-max-bytes":
      return `at most ${limit} bytes`;
    case "x-max-depth":
      return `at most ${limit} levels and no __proto__ key`;
    case "x-reserved-endings":
      return "a name that is not reserved for people";
    default:
      return keyword;
  }
}

function at(input: unknown, pointer: string): unknown {
  let value = input;
  for (const key of pointer.split("/").slice(1)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[key.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return value;
}
