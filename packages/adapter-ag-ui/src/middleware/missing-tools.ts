/** Tells of tools that a host wants offered and that are not there: of each once, since surfaces change. */
export class MissingTools {
  readonly #told = new Set<string>();

  /** @param wanted bounds what is kept: it is the host's own list */
  tell(
    wanted: readonly string[],
    offered: readonly { readonly name: string }[],
    onProblem: (error: Error) => void,
  ): void {
    const names = new Set(offered.map(({ name }) => name));
    for (const name of wanted) {
      if (names.has(name) || this.#told.has(name)) continue;
      this.#told.add(name);
      onProblem(
        new Error(`the option tools names ${JSON.stringify(name)}, which the surface does not offer to this agent`),
      );
    }
  }
}
