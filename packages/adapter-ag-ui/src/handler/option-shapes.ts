import { describeValue, invalidArgument } from "../argument.ts";
import { isObject, type JsonObjectLike } from "../bounded-json.ts";

/** Members by what holds them: `()` is a function, `{}` an object, `?` true or false, and `!` has to be there. */
const shapes = {
  options:
    "authorize()! run()! input{} projection{} interrupts{} replay{} capabilities{} limits{} pingMs encoder() onProblem() now()",
  input: "project() frontendTools() takesResume?",
  projection:
    "open() toolArguments() toolResult() state() stateSnapshot() stateDelta() messages() activity() reasoning() raw() custom() interrupt()",
  interrupts: "lifecycle{}! resolveRun()! onSuspended() resume() expiresAfterMs",
  "interrupts.lifecycle": "status()! resumeStream()!",
  replay: "source{}! resolveRun()!",
  "replay.source": "page()! subscribe()",
  capabilities:
    "identity{} transport{} tools{} output{} state{} multiAgent{} reasoning{} multimodal{} execution{} humanInTheLoop{} custom{}",
};

/** What the host made for itself may hold more, and so may a projection that opens legs of its own. */
const isForeign = (path: string, value: JsonObjectLike) =>
  path.includes(".") || (path === "projection" && "open" in value);

/** @throws HumanPlusError `invalid_argument` that names the option, what was expected and what came */
export function assertOptions(options: unknown): void {
  if (!isObject(options)) throw invalidArgument(`options should be an object, is ${describeValue(options)}`);
  for (const [path, shape] of Object.entries(shapes)) {
    const value = path === "options" ? options : valueAt(options, path);
    if (!isObject(value)) continue;
    const prefix = path === "options" ? "" : `${path}.`;
    const rest = new Set(Object.keys(value));
    for (const [, name = "", kind, must] of shape.matchAll(/(\w+)(\(\)|\{\}|\?)?(!?)/g)) {
      rest.delete(name);
      const member = value[name];
      if (member === undefined ? must !== "" : !isOf(kind, member))
        throw invalidArgument(
          `${prefix}${name} should be ${words[kind as keyof typeof words]}, is ${describeValue(member)}`,
        );
    }
    if (rest.size > 0 && !isForeign(path, value))
      throw invalidArgument(`${path} should hold no ${describeValue([...rest][0])}: there is no such option`);
  }
}

const words = { "()": "a function", "{}": "an object", "?": "true or false" };

function isOf(kind: string | undefined, value: unknown): boolean {
  if (kind === "{}") return isObject(value);
  return kind === undefined || typeof value === (kind === "?" ? "boolean" : "function");
}

/** What a path of members leads to. */
export function valueAt(root: unknown, path: string): unknown {
  return path.split(".").reduce((value: unknown, key) => (isObject(value) ? value[key] : undefined), root);
}
