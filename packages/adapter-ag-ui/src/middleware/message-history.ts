import type { BaseEvent, Message, RunAgentInput } from "@ag-ui/client";

type Messages = RunAgentInput["messages"];

interface Call {
  readonly id: string;
  readonly type: "function";
  readonly function: { name: string; arguments: string };
  metadata?: object;
  encryptedValue?: unknown;
}

/** A message as events make it. */
interface Entry {
  readonly id: string;
  readonly role: string;
  content?: unknown;
  toolCalls?: Call[];
  metadata?: object;
  encryptedValue?: unknown;
  readonly [member: string]: unknown;
}

/** As much of events as is looked at. */
interface Fields {
  readonly type: string;
  readonly messageId?: string;
  readonly toolCallId?: string;
  readonly toolCallName?: string;
  readonly parentMessageId?: string | null;
  readonly entityId?: string;
  readonly role?: string;
  readonly metadata?: unknown;
  readonly [member: string]: unknown;
}

/**
 * Messages, and what events make of them. It is what the client's own `defaultApplyEvents` makes of them, which copies all
 * messages for each event; this takes time linear in the events.
 */
export class MessageHistory {
  readonly #entries: Entry[];
  readonly #byId = new Map<string, Entry>();
  readonly #calls = new Map<string, { readonly call: Call; readonly owner: Entry }>();
  /** Results that stand behind a message: those of its calls, and behind the last one those of calls that nobody made. */
  readonly #results = new Map<Entry, Entry[]>();
  /** The last message that is no result. */
  #last: Entry | undefined;

  /** @param messages become its own */
  constructor(messages: Messages) {
    this.#entries = messages as unknown as Entry[];
    for (const entry of this.#entries) {
      if (entry.role !== "tool") this.#last = entry;
      if (!this.#byId.has(entry.id)) this.#byId.set(entry.id, entry);
      for (const call of entry.toolCalls ?? [])
        if (!this.#calls.has(call.id)) this.#calls.set(call.id, { call, owner: entry });
    }
  }

  /** Whether it knows what the event makes of messages. */
  apply(event: BaseEvent): boolean {
    const fields = event as unknown as Fields;
    const { messageId = "", toolCallId = "" } = fields;
    switch (fields.type) {
      case "TEXT_MESSAGE_START":
        this.#begin(fields, fields.role ?? "assistant", ["name", "subagentRunId"]);
        return true;
      case "REASONING_MESSAGE_START":
        this.#begin(fields, "reasoning", ["subagentRunId"]);
        return true;
      case "TEXT_MESSAGE_CONTENT":
      case "REASONING_MESSAGE_CONTENT":
        this.#append(messageId, fields);
        return true;
      case "TEXT_MESSAGE_END":
      case "REASONING_MESSAGE_END":
        merge(this.#written(messageId), fields);
        return true;
      case "TOOL_CALL_START":
        this.#beginCall(toolCallId, fields);
        return true;
      case "TOOL_CALL_ARGS": {
        const call = this.#calls.get(toolCallId)?.call;
        if (call !== undefined) call.function.arguments += String(fields["delta"]);
        merge(call, fields);
        return true;
      }
      case "TOOL_CALL_END":
        merge(this.#calls.get(toolCallId)?.call, fields);
        return true;
      case "TOOL_CALL_RESULT":
        this.#result(messageId, toolCallId, fields);
        return true;
      case "REASONING_ENCRYPTED_VALUE":
        this.#encrypted(fields);
        return true;
      case "REASONING_START":
      case "REASONING_END":
        return true;
      default:
        return false;
    }
  }

  messages(): Messages {
    const messages: Entry[] = [];
    let waiting: readonly Entry[] = [];
    for (const entry of this.#entries) {
      if (entry.role !== "tool") {
        messages.push(...waiting);
        waiting = this.#results.get(entry) ?? [];
      }
      messages.push(entry);
    }
    return [...messages, ...waiting] as unknown as Message[];
  }

  #begin(fields: Fields, role: string, members: readonly string[]): void {
    const { messageId: id = "" } = fields;
    const given = members.filter((member) => fields[member] !== undefined && fields[member] !== null);
    const entry = { id, role, content: "", ...Object.fromEntries(given.map((member) => [member, fields[member]])) };
    merge(this.#byId.has(id) ? this.#written(id) : this.#add(entry), fields);
  }

  #append(id: string, fields: Fields): void {
    const entry = this.#written(id);
    if (entry === undefined) return;
    entry.content = `${typeof entry.content === "string" ? entry.content : ""}${fields["delta"]}`;
    merge(entry, fields);
  }

  #beginCall(id: string, fields: Fields): void {
    const { toolCallName: name = "" } = fields;
    let call = this.#calls.get(id)?.call;
    if (call === undefined) {
      const owner = this.#ownerOf(id, fields);
      call = { id, type: "function", function: { name, arguments: "" } };
      owner.toolCalls ??= [];
      owner.toolCalls.push(call);
      this.#calls.set(id, { call, owner });
    }
    call.function.name = name;
    merge(call, fields);
  }

  /** The message that a new call belongs to: its parent, or one of its own. */
  #ownerOf(id: string, { parentMessageId, ...fields }: Fields): Entry {
    const parent = parentMessageId ? this.#byId.get(parentMessageId) : undefined;
    if (parent?.role === "assistant") return parent;
    const own = parentMessageId && parent === undefined ? parentMessageId : id;
    return this.#add({ id: own, role: "assistant", toolCalls: [], ...attribution(fields) });
  }

  #result(id: string, toolCallId: string, fields: Fields): void {
    const { role = "tool", ["content"]: content } = fields;
    const entry: Entry = { id, toolCallId, role, content, ...attribution(fields) };
    merge(entry, fields);
    const before = this.#calls.get(toolCallId)?.owner ?? this.#last;
    if (before === undefined) return void this.#add(entry);
    if (!this.#byId.has(id)) this.#byId.set(id, entry);
    const results = this.#results.get(before) ?? [];
    results.push(entry);
    this.#results.set(before, results);
  }

  #encrypted({
    entityId = "",
    subtype,
    encryptedValue,
  }: Fields & { subtype?: unknown; encryptedValue?: unknown }): void {
    const entity = subtype === "tool-call" ? this.#calls.get(entityId)?.call : this.#written(entityId);
    if (entity !== undefined) entity.encryptedValue = encryptedValue;
  }

  /** A message that texts can be written to: what an activity shows is no text. */
  #written(id: string): Entry | undefined {
    const entry = this.#byId.get(id);
    return entry?.role === "activity" ? undefined : entry;
  }

  #add(entry: Entry): Entry {
    this.#entries.push(entry);
    if (entry.role !== "tool") this.#last = entry;
    if (!this.#byId.has(entry.id)) this.#byId.set(entry.id, entry);
    return entry;
  }
}

function attribution({ ["subagentRunId"]: subagentRunId }: Readonly<Record<string, unknown>>) {
  return typeof subagentRunId === "string" ? { subagentRunId } : {};
}

/** Metadata merge key by key, and the last write wins. */
function merge(target: { metadata?: object } | undefined, { metadata }: { readonly metadata?: unknown }): void {
  if (target === undefined || typeof metadata !== "object" || metadata === null) return;
  target.metadata = { ...target.metadata, ...metadata };
}
