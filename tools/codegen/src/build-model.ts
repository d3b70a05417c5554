import { readerProblems } from "./check-readers.ts";
import { keywordProblems } from "./keywords.ts";
import { type Json, type JsonObject, RELAY_FILE, type Spec, SURFACE_FILE } from "./load.ts";
import type {
  ConstantTable,
  Conversion,
  Definition,
  ErrorEntry,
  Field,
  Literal,
  Model,
  Parsing,
  Property,
  QueryParameter,
  RelayErrorEntry,
  Route,
  RouteMessage,
  Schema,
} from "./model.ts";
import { lowerFirst } from "./names.ts";
import { type Problem, pointerTo, SpecError } from "./problem.ts";

/** Understands the contract. @throws SpecError with file and pointer of every problem */
export function buildModel({ surface, relay }: Spec): Model {
  const problems = keywordProblems(surface, relay);
  if (problems.length === 0) problems.push(...readerProblems(surface));
  if (problems.length > 0) throw new SpecError(problems);
  const builder = new ModelBuilder(surface, relay);
  const model = builder.build();
  if (builder.problems.length > 0) throw new SpecError(builder.problems);
  return model;
}

class ModelBuilder {
  readonly problems: Problem[] = [];
  readonly #definitions: JsonObject;
  readonly #relay: JsonObject;
  readonly #limits: Map<string, number>;

  constructor(surface: JsonObject, relay: JsonObject) {
    this.#definitions = asObject(surface["definitions"]);
    this.#relay = relay;
    const limits = asObject(asObject(this.#definitions["Limits"])["properties"]);
    this.#limits = new Map(
      Object.entries(limits).map(([name, schema]) => [name, asObject(schema)["default"] as number]),
    );
  }

  build(): Model {
    const names = Object.keys(this.#definitions);
    this.#requireDistinct(names, SURFACE_FILE, (name) => pointerTo("definitions", name));
    const tables = names.filter((name) => asObject(this.#definitions[name])["x-constants"] === true);
    const info = asObject(this.#relay["info"]);
    const errors = this.#errors();
    return {
      version: String(info["version"]),
      protocol: asObject(this.#relay["x-protocol"]) as unknown as Model["protocol"],
      definitions: names.filter((name) => !tables.includes(name)).map((name) => this.#definition(name)),
      constants: tables.map((name) => this.#constants(name)),
      errors,
      relayErrors: this.#relayErrors(errors),
      routes: this.#routes(),
      ...this.#eventStream(),
      shareLinks: asObject(this.#relay["x-share-links"]),
      authentication: this.#authentication(),
      limits: this.#limits,
    };
  }

  #fail(file: string, pointer: string, message: string): void {
    this.problems.push({ file, pointer, message });
  }

  /** Names that differ in case alone would collide in generated code or on a file system. */
  #requireDistinct(names: readonly string[], file: string, pointer: (name: string) => string): void {
    const seen = new Map<string, string>();
    for (const name of names) {
      const other = seen.get(name.toLowerCase());
      if (other !== undefined) this.#fail(file, pointer(name), `duplicate name: ${name} and ${other}`);
      seen.set(name.toLowerCase(), name);
    }
  }

  #definition(name: string): Definition {
    const json = asObject(this.#definitions[name]);
    const pointer = pointerTo("definitions", name);
    if (typeof json["description"] !== "string") this.#fail(SURFACE_FILE, pointer, "a definition needs a description");
    return {
      name,
      description: String(json["description"]),
      schema: this.#schema(json, pointer),
      json,
      sentBy: (json["x-sent-by"] as string[] | undefined) ?? [],
      open: json["x-open"] === true,
      parse: this.#parsing(name, json, pointer),
    };
  }

  #schema(json: Json, pointer: string): Schema {
    if (json === false) return { kind: "never" };
    const schema = asObject(json);
    this.#checkLimits(schema, pointer);
    if (typeof schema["$ref"] === "string") return { kind: "ref", name: refName(schema["$ref"]) };
    if (Array.isArray(schema["allOf"])) return this.#schema(schema["allOf"][0] as Json, `${pointer}/allOf/0`);
    if (Array.isArray(schema["oneOf"])) return this.#union(schema["oneOf"], pointer);
    if ("const" in schema) return { kind: "literals", values: [literal(schema)] };
    if (Array.isArray(schema["enum"])) {
      return { kind: "literals", values: schema["enum"].map((value) => ({ value, description: undefined })) };
    }
    switch (schema["type"]) {
      case undefined:
        return { kind: "any" };
      case "array":
        if (schema["items"] === undefined) this.#fail(SURFACE_FILE, pointer, "a list needs items");
        return { kind: "list", items: this.#schema(schema["items"] ?? {}, `${pointer}/items`) };
      case "object":
        return { kind: "object", properties: this.#properties(schema, pointer) };
      default:
        return { kind: "scalar", type: schema["type"] as "string" };
    }
  }

  #union(members: Json[], pointer: string): Schema {
    const constants = members.every((member) => "const" in asObject(member));
    if (constants) {
      const values = members.map((member) => literal(asObject(member)));
      this.#requireDistinct(
        values.map(({ value }) => String(value)),
        SURFACE_FILE,
        () => `${pointer}/oneOf`,
      );
      return { kind: "literals", values };
    }
    return {
      kind: "union",
      members: members.map((member, index) => this.#schema(member, `${pointer}/oneOf/${index}`)),
    };
  }

  #properties(schema: JsonObject, pointer: string): Property[] {
    const required = (schema["required"] as string[] | undefined) ?? [];
    const properties = asObject(schema["properties"] ?? {});
    for (const name of required) {
      if (!Object.hasOwn(properties, name))
        this.#fail(SURFACE_FILE, `${pointer}/required`, `${name} is required but not described`);
    }
    return Object.entries(properties).map(([name, json]) => {
      const where = pointer + pointerTo("properties", name);
      const described = asObject(json === false ? {} : json);
      if (json !== false && described["$ref"] === undefined && typeof described["description"] !== "string") {
        this.#fail(SURFACE_FILE, where, "a property needs a description");
      }
      return {
        name,
        description: described["description"] as string | undefined,
        required: required.includes(name),
        schema: this.#schema(json, where),
        json,
      };
    });
  }

  #checkLimits(schema: JsonObject, pointer: string): void {
    for (const keyword of ["x-max-bytes", "x-max-depth"]) {
      const limit = schema[keyword];
      if (typeof limit === "string" && !this.#limits.has(limit)) {
        this.#fail(SURFACE_FILE, `${pointer}/${keyword}`, `there is no limit named ${limit}`);
      }
    }
  }

  #parsing(name: string, json: JsonObject, pointer: string): Parsing {
    if (Array.isArray(json["x-select"])) return this.#selection(json, pointer);
    if (typeof json["x-tag"] === "string") return this.#tags(json["x-tag"], json, pointer);
    if (this.#isScalarReader(json)) {
      return { kind: "scalar", conversion: this.#conversion(json) as Conversion, otherwise: json["x-otherwise"] };
    }
    if (!this.#isReader(name)) return { kind: "checked" };
    const wrap = json["x-wrap"] as unknown as { into: string; list: boolean; having: string } | undefined;
    const places = ((json["x-places"] as string[] | undefined) ?? [""]).map(toPath);
    const fields = Object.entries(asObject(json["properties"] ?? {})).map(([property, schema]) =>
      this.#field(name, property, asObject(schema), places, ((json["required"] ?? []) as string[]).includes(property)),
    );
    for (const { list } of fields) {
      const counter = fields.find((field) => field.name === list?.counter);
      if (list !== undefined && (counter === undefined || counter.otherwise === undefined)) {
        this.#fail(
          SURFACE_FILE,
          pointer,
          `x-drop-invalid names ${list.counter}, which is no property with an x-otherwise`,
        );
      }
    }
    const depth = json["x-max-depth"];
    return {
      kind: "reader",
      fields,
      wrap,
      maxDepth: typeof depth === "string" ? this.#limits.get(depth) : (depth as number | undefined),
    };
  }

  #selection(json: JsonObject, pointer: string): Parsing {
    const members = (json["oneOf"] as Json[]).map((member) => refName(String(asObject(member)["$ref"])));
    const choices = (json["x-select"] as Json[]).map((choice) => {
      const { has = [], use } = asObject(choice) as { has?: string[]; use: string };
      if (!members.includes(use)) this.#fail(SURFACE_FILE, `${pointer}/x-select`, `${use} is no member of oneOf`);
      return { keys: has, use };
    });
    return { kind: "selected", choices };
  }

  #tags(tag: string, json: JsonObject, pointer: string): Parsing {
    const choices = (json["oneOf"] as Json[]).map((member, index) => {
      const use = refName(String(asObject(member)["$ref"]));
      const constant = asObject(asObject(asObject(this.#definitions[use])["properties"])[tag] ?? {})["const"];
      if (typeof constant !== "string") {
        this.#fail(SURFACE_FILE, `${pointer}/oneOf/${index}`, `${use} has no text constant ${tag} to be told by`);
      }
      return { value: String(constant), use };
    });
    return { kind: "tagged", tag, choices };
  }

  #isScalarReader(json: JsonObject): boolean {
    return json["properties"] === undefined && (json["x-vocabulary"] !== undefined || json["x-fold-case"] === true);
  }

  /** Whether what the definition's parser gives is not simply what went in. */
  #isReader(name: string): boolean {
    const json = asObject(this.#definitions[name]);
    if (this.#isScalarReader(json) || json["x-wrap"] !== undefined) return true;
    return Object.values(asObject(json["properties"] ?? {})).some((property) => {
      if (property === false) return false;
      const schema = asObject(property);
      return (
        schema["x-read-from"] !== undefined ||
        (typeof schema["$ref"] === "string" && this.#isReader(refName(schema["$ref"])))
      );
    });
  }

  #field(definition: string, name: string, own: JsonObject, places: string[][], required: boolean): Field {
    const pointer = pointerTo("definitions", definition, "properties", name);
    const referred = own["$ref"] ?? asObject((own["allOf"] as Json[] | undefined)?.[0] ?? {})["$ref"];
    const target = typeof referred === "string" ? refName(referred) : undefined;
    // A vocabulary of the definition that a property refers to is the property's own.
    const inherited =
      target !== undefined && this.#isScalarReader(asObject(this.#definitions[target]))
        ? asObject(this.#definitions[target])
        : {};
    const schema: JsonObject = { ...inherited, ...own };
    const reads = own["x-read-from"] as string[] | undefined;
    const expand = (paths: string[] | undefined) =>
      (paths ?? []).flatMap((path) => places.map((place) => [...place, ...toPath(path)]));
    const isNested = target !== undefined && this.#isReader(target) && Object.keys(inherited).length === 0;
    return {
      name,
      required,
      from: reads === undefined ? [[name]] : expand(reads),
      inverseFrom: expand(own["x-inverse-from"] as string[] | undefined),
      firstPresent: reads === undefined || schema["x-first"] === "present",
      conversion: this.#conversion(schema),
      otherwise: schema["x-otherwise"],
      malformed: schema["x-malformed"],
      reader: isNested ? target : undefined,
      check:
        isNested || (this.#schema(own, pointer).kind === "any" && own["x-max-depth"] === undefined)
          ? undefined
          : pointer,
      list: this.#list(own, pointer),
    };
  }

  #list(schema: JsonObject, pointer: string): Field["list"] {
    const counter = schema["x-drop-invalid"];
    if (counter === undefined) return undefined;
    const items = asObject(schema["items"]);
    const ref = items["$ref"] ?? asObject((items["allOf"] as Json[] | undefined)?.[0] ?? {})["$ref"];
    if (typeof ref !== "string" || typeof schema["maxItems"] !== "number") {
      this.#fail(SURFACE_FILE, pointer, "x-drop-invalid needs items that refer to a definition, and maxItems");
      return undefined;
    }
    return {
      item: refName(ref),
      maxItems: schema["maxItems"],
      counter: String(counter),
      embedded: items["x-embedded-json"] === true,
    };
  }

  #conversion(schema: JsonObject): Conversion | undefined {
    const vocabulary = schema["x-vocabulary"] as Record<string, string[]> | undefined;
    const conversion = {
      coerce: schema["x-coerce"] === "text",
      trim: schema["x-trim"] === true,
      foldCase: schema["x-fold-case"] === true,
      words:
        vocabulary &&
        new Map(Object.entries(vocabulary).flatMap(([value, words]) => words.map((word) => [word, value] as const))),
    };
    return conversion.coerce || conversion.trim || conversion.foldCase || conversion.words ? conversion : undefined;
  }

  #constants(name: string): ConstantTable {
    const json = asObject(this.#definitions[name]);
    const entries = Object.entries(asObject(json["properties"])).map(([entry, schema]) => {
      const { default: value, description } = asObject(schema);
      if (value === undefined)
        this.#fail(SURFACE_FILE, pointerTo("definitions", name, "properties", entry), "a constant needs a default");
      return { name: entry, description: String(description), value: value ?? null };
    });
    return { name: lowerFirst(name), description: String(json["description"]), entries };
  }

  #errors(): ErrorEntry[] {
    const members = (asObject(this.#definitions["ErrorCode"])["oneOf"] ?? []) as Json[];
    const outcomes = ((asObject(this.#definitions["Outcome"])["oneOf"] ?? []) as Json[]).map(
      (member) => asObject(member)["const"],
    );
    return members.map((member, index) => {
      const entry = asObject(member);
      if (entry["x-outcome"] === undefined || entry["x-retryable"] === undefined) {
        this.#fail(
          SURFACE_FILE,
          pointerTo("definitions", "ErrorCode", "oneOf", index),
          "an error code needs x-outcome and x-retryable",
        );
      }
      for (const outcome of (entry["x-outcome"] ?? []) as string[]) {
        if (outcomes.includes(outcome)) continue;
        const pointer = pointerTo("definitions", "ErrorCode", "oneOf", index, "x-outcome");
        this.#fail(SURFACE_FILE, pointer, `${outcome} is no Outcome`);
      }
      return {
        code: String(entry["const"]),
        description: String(entry["description"]),
        outcome: (entry["x-outcome"] ?? []) as string[],
        retryable: entry["x-retryable"] === true,
      };
    });
  }

  #relayErrors(codes: readonly ErrorEntry[]): RelayErrorEntry[] {
    return (this.#relay["x-relay-errors"] as Json[]).map((json, index) => {
      const entry = asObject(json) as unknown as RelayErrorEntry;
      const known = codes.find(({ code }) => code === entry.error);
      const pointer = pointerTo("x-relay-errors", index);
      if (known === undefined) this.#fail(RELAY_FILE, `${pointer}/error`, `${entry.error} is no ErrorCode`);
      else if (!known.outcome.includes(entry.outcome)) {
        this.#fail(RELAY_FILE, `${pointer}/outcome`, `ErrorCode does not let ${entry.error} end as ${entry.outcome}`);
      }
      return {
        status: entry.status,
        code: entry.code,
        bodyContains: entry.bodyContains,
        error: entry.error,
        outcome: entry.outcome,
        retryable: entry.retryable,
        sentByRelay: entry.sentByRelay,
        description: entry.description,
      };
    });
  }

  #routes(): Route[] {
    const channels = asObject(this.#relay["channels"]);
    return Object.entries(asObject(this.#relay["operations"])).map(([name, json]) => {
      const operation = asObject(json);
      const channel = String(asObject(operation["channel"])["$ref"]).replace("#/channels/", "");
      const http = asObject(asObject(operation["bindings"])["http"]);
      return {
        name,
        method: String(http["method"]),
        address: String(asObject(channels[channel])["address"]),
        summary: String(operation["summary"]),
        usedBy: (operation["x-used-by"] ?? []) as string[],
        optional: operation["x-optional"] === true,
        dialect: operation["x-dialect"] as string | undefined,
        query: this.#query(asObject(http["query"] ?? {})),
        messages: [
          ...this.#messages("request", operation["messages"]),
          ...this.#messages("reply", asObject(operation["reply"])["messages"]),
        ],
      };
    });
  }

  #messages(kind: RouteMessage["kind"], refs: Json | undefined): RouteMessage[] {
    const messages = asObject(asObject(this.#relay["components"])["messages"]);
    return ((refs ?? []) as Json[]).map((ref) => {
      const name = String(asObject(ref)["$ref"]).replace(/^.*\/messages\//, "");
      const message = asObject(messages[name]);
      const http = asObject(asObject(message["bindings"])["http"]);
      return {
        name,
        kind,
        status: http["statusCode"] as number | undefined,
        contentType: message["contentType"] as string | undefined,
        payload: message["payload"],
      };
    });
  }

  #query(json: JsonObject): QueryParameter[] {
    return Object.entries(asObject(json["properties"] ?? {})).map(([name, property]) => {
      const schema = asObject(property);
      const ref = typeof schema["$ref"] === "string" ? refName(schema["$ref"]) : undefined;
      return {
        name,
        description: String(
          ref === undefined ? schema["description"] : asObject(this.#definitions[ref])["description"],
        ),
        schema: ref === undefined ? this.#schema(schema, "") : { kind: "ref", name: ref },
        required: ((json["required"] ?? []) as string[]).includes(name),
        unit: schema["x-unit"] as string | undefined,
        json: property,
      };
    });
  }

  #eventStream(): Pick<Model, "eventStream" | "eventStreamChannel"> {
    const channels = Object.entries(asObject(this.#relay["channels"]));
    const [name, channel] = channels.find(([, json]) => asObject(json)["x-event-stream"] !== undefined) ?? [];
    if (name === undefined) this.#fail(RELAY_FILE, "/channels", "no channel describes the event stream");
    return { eventStream: asObject(asObject(channel)["x-event-stream"]), eventStreamChannel: name ?? "" };
  }

  #authentication(): Model["authentication"] {
    const schemes = Object.values(asObject(asObject(this.#relay["components"])["securitySchemes"])).map(asObject);
    const inQuery = schemes.find(({ type }) => type === "httpApiKey");
    const inHeader = schemes.find(({ type }) => type === "http");
    if (inQuery === undefined || inHeader === undefined) {
      this.#fail(RELAY_FILE, "/components/securitySchemes", "a query key and a bearer scheme are needed");
    }
    return { queryParameter: String(inQuery?.["name"]), headerScheme: capitalised(String(inHeader?.["scheme"])) };
  }
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function refName(ref: string): string {
  return ref.replace(/^.*#\/definitions\//, "");
}

function toPath(path: string): string[] {
  return path === "" ? [] : path.split("/");
}

function literal(schema: JsonObject): Literal {
  return { value: schema["const"] as Json, description: schema["description"] as string | undefined };
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
