/** A TypeScript file in the making: collects the imports that its lines need. */
export class SourceFile {
  readonly #name: string;
  readonly #header: string;
  readonly #types = new Map<string, Set<string>>();
  readonly #values = new Map<string, Set<string>>();
  readonly #lines: string[] = [];

  constructor(name: string, header: string) {
    this.#name = name;
    this.#header = header;
  }

  get name(): string {
    return this.#name;
  }

  /** Names a type from another module; gives the name back for use in a line. */
  type(module: string, name: string): string {
    add(this.#types, module, name);
    return name;
  }

  value(module: string, name: string): string {
    add(this.#values, module, name);
    return name;
  }

  print(...lines: string[]): void {
    this.#lines.push(...lines);
  }

  /** A doc comment; nothing where there is nothing to say. */
  doc(text: string | undefined, indent = ""): void {
    if (text === undefined || text === "") return;
    const lines = text.trim().replaceAll("*/", "* /").split("\n");
    if (lines.length === 1) this.print(`${indent}/** ${lines[0]} */`);
    else this.print(`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`);
  }

  toString(): string {
    const imports: string[] = [];
    const modules = [...new Set([...this.#types.keys(), ...this.#values.keys()])].sort();
    for (const module of modules) {
      const values = [...(this.#values.get(module) ?? [])];
      const types = [...(this.#types.get(module) ?? [])].filter((name) => !values.includes(name));
      if (values.length === 0) imports.push(`import type { ${types.sort().join(", ")} } from "${module}";`);
      else {
        const names = [...values, ...types.map((name) => `type ${name}`)].sort(byLastWord);
        imports.push(`import { ${names.join(", ")} } from "${module}";`);
      }
    }
    return [this.#header, "", ...imports, ...(imports.length > 0 ? [""] : []), ...this.#lines, ""].join("\n");
  }
}

function add(map: Map<string, Set<string>>, module: string, name: string): void {
  const names = map.get(module) ?? new Set();
  map.set(module, names.add(name));
}

function byLastWord(a: string, b: string): number {
  const key = (name: string) => name.replace("type ", "");
  return key(a) < key(b) ? -1 : 1;
}
