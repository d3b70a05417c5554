import { type BaseEvent, EventType } from "@ag-ui/client";

const known: ReadonlySet<unknown> = new Set(Object.values(EventType));

const MAX_PROBLEMS = 16;

/** What is wrong with the events of an agent in one run: told once for each kind and type, and of so many at most. */
export class AgentProblems {
  readonly #onProblem: (error: Error) => void;
  readonly #told = new Set<string>();

  constructor(onProblem: (error: Error) => void) {
    this.#onProblem = onProblem;
  }

  /** Whether it can be heard. A type that this client does not know passes: somebody further out may know it. */
  check(event: unknown): event is BaseEvent {
    const type = (event as { readonly type?: unknown } | null | undefined)?.type;
    if (typeof type !== "string") {
      this.#tell("the agent said something that is no event, and it was left out");
      return false;
    }
    if (!known.has(type)) this.#tell(`the agent said ${quote(type)}, which is no type of event that this client knows`);
    return true;
  }

  afterEnd(type: string): void {
    this.#tell(`the agent said ${quote(type)} after its run had ended, and nobody acts on it`);
  }

  leftOpen(): void {
    this.#tell("the agent's run ended while messages or steps were open; they were ended for it");
  }

  #tell(problem: string): void {
    if (this.#told.size > MAX_PROBLEMS || this.#told.has(problem)) return;
    this.#told.add(problem);
    const isLast = this.#told.size > MAX_PROBLEMS;
    this.#onProblem(new Error(isLast ? "more is wrong with the agent's events than is told" : problem));
  }
}

function quote(type: string): string {
  return JSON.stringify(type.length > 64 ? `${type.slice(0, 64)}...` : type);
}
