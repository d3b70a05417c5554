import { describe, expect, test } from "vitest";
import { buildModel } from "../src/build-model.ts";
import { KEYWORD_RULES, STRUCTURAL_KEYWORDS } from "../src/diff-keywords.ts";
import { compareModels } from "../src/diff-models.ts";
import { SCHEMA_KEYWORDS } from "../src/keywords.ts";
import { loadSpec } from "../src/load.ts";
import { type Edit, type Loose, specDirectory } from "./contract.ts";

const spec = await loadSpec(specDirectory);
const current = buildModel(spec);

function edited({ surface, relay }: Edit) {
  const copy = structuredClone(spec);
  surface?.(copy.surface["definitions"], copy.surface);
  relay?.(copy.relay);
  return buildModel(copy);
}

/** Pointer, what happened, and who is hurt: `senders: ...; readers: ...`, or nobody. */
function verdicts(change: Edit) {
  return compareModels(current, edited(change)).map(({ pointer, what, breaks: { senders, readers } }) => {
    const sides = [
      senders.length > 0 ? [`senders: ${senders.join(", ")}`] : [],
      readers.length > 0 ? [`readers: ${readers.join(", ")}`] : [],
    ].flat();
    return [pointer, what, sides.join("; ") || "nobody"];
  });
}

type Verdict = readonly [pointer: string, what: string, breaks: string];
type Case = readonly [name: string, change: Edit, ...verdicts: Verdict[]];

const d = "/definitions";

const definitionCases: readonly Case[] = [
  [
    "a new optional property",
    { surface: (s) => (s.Activity.properties.mood = { description: "How.", type: "string" }) },
    [`${d}/Activity/properties/mood`, "new optional property mood", "nobody"],
  ],
  [
    "a new required property, in a definition that is only used inside others",
    {
      surface: (s) => {
        s.Actor.properties.team = { description: "Whose.", type: "string" };
        s.Actor.required.push("team");
      },
    },
    [`${d}/Actor/properties/team`, "new required property team", "senders: agent"],
  ],
  [
    "a new property of a reader with a value for its absence",
    {
      surface: (s) => {
        s.ChangeFeed.properties.seen = {
          description: "Seen.",
          type: "boolean",
          "x-read-from": ["seen"],
          "x-otherwise": false,
        };
        s.ChangeFeed.required.push("seen");
      },
    },
    [`${d}/ChangeFeed/properties/seen`, "new property seen, which senders may leave out", "nobody"],
  ],
  [
    "a removed required property",
    {
      surface: (s) => {
        delete s.Actor.properties.name;
        s.Actor.required = ["id", "type"];
      },
    },
    [`${d}/Actor/properties/name`, "required property name removed", "senders: agent; readers: surface, relay"],
  ],
  [
    "a removed optional property",
    { surface: (s) => delete s.Actor.properties.color },
    [`${d}/Actor/properties/color`, "optional property color removed", "senders: agent"],
  ],
  [
    "a property that may be absent now",
    { surface: (s) => (s.Actor.required = ["id", "type"]) },
    [`${d}/Actor/required`, "property name may be absent now", "readers: surface, relay"],
  ],
  [
    "a property that is required now",
    { surface: (s) => s.Activity.required.push("target") },
    [`${d}/Activity/required`, "property target is required now", "senders: agent"],
  ],
  [
    "another type",
    { surface: (s) => (s.Activity.properties.action.type = "boolean") },
    [
      `${d}/Activity/properties/action/type`,
      'action: type: "string" became "boolean"',
      "senders: agent; readers: surface, relay",
    ],
  ],
  [
    "a tightened bound",
    { surface: (s) => (s.Activity.properties.action.maxLength = 99) },
    [
      `${d}/Activity/properties/action/maxLength`,
      "action: maxLength: 256 became 99, a tighter bound",
      "senders: agent",
    ],
  ],
  [
    "a loosened bound",
    { surface: (s) => (s.Activity.properties.action.maxLength = 999) },
    [
      `${d}/Activity/properties/action/maxLength`,
      "action: maxLength: 256 became 999, a wider bound",
      "readers: surface, relay",
    ],
  ],
  [
    "a loosened lower bound",
    { surface: (s) => (s.Activity.properties.action.minLength = 0) },
    [
      `${d}/Activity/properties/action/minLength`,
      "action: minLength: 1 became 0, a wider bound",
      "readers: surface, relay",
    ],
  ],
  [
    "a bound by a limit of the same value",
    { surface: (s) => (s.Tool.properties.title["x-max-bytes"] = 16384) },
    [
      `${d}/Tool/properties/title/x-max-bytes`,
      'title: x-max-bytes: "descriptionBytes" became 16384, the same bound',
      "nobody",
    ],
  ],
  [
    "another pattern",
    { surface: (s) => (s.ToolPin.pattern = "^x$") },
    [
      `${d}/ToolPin/pattern`,
      'pattern: "^sha256:[0-9a-f]{32}$" became "^x$"',
      "senders: agent, surface, relay; readers: agent, surface, relay",
    ],
  ],
  [
    "a new member of a closed enumeration",
    { surface: (s) => s.Priority.oneOf.push({ const: "later", description: "Not now." }) },
    [`${d}/Priority/oneOf/4`, 'value "later" added', "readers: surface, relay"],
  ],
  [
    "a removed member of an enumeration",
    { surface: (s) => s.Priority.oneOf.pop() },
    [`${d}/Priority/oneOf/3`, 'value "blocking" removed', "senders: agent"],
  ],
  [
    "a new member of an open enumeration",
    {
      surface: (s) =>
        s.ErrorCode.oneOf.push({ const: "odd", description: "Odd.", "x-outcome": ["unknown"], "x-retryable": false }),
    },
    [`${d}/ErrorCode/oneOf/${errorCount()}`, 'value "odd" added', "nobody"],
  ],
  [
    "an enumeration that is opened and gets a member at once",
    {
      surface: (s) => {
        s.Priority["x-open"] = true;
        s.Priority.oneOf.push({ const: "later", description: "Not now." });
      },
    },
    [`${d}/Priority/oneOf/4`, 'value "later" added', "readers: surface, relay"],
    [`${d}/Priority/x-open`, "x-open: true added", "readers: surface, relay"],
  ],
  [
    "another outcome of an error code",
    { surface: (s) => (s.ErrorCode.oneOf[0]["x-outcome"] = ["unknown"]) },
    [
      `${d}/ErrorCode/oneOf/0/x-outcome`,
      '"invalid_argument": x-outcome: ["not_applied"] became ["unknown"]',
      "senders: SDK; readers: callers of the SDK",
    ],
  ],
  [
    "an error code that may be retried",
    { surface: (s) => (s.ErrorCode.oneOf[0]["x-retryable"] = true) },
    [
      `${d}/ErrorCode/oneOf/0/x-retryable`,
      '"invalid_argument": x-retryable: false became true',
      "senders: SDK; readers: callers of the SDK",
    ],
  ],
  [
    "another method",
    { surface: (s) => (s.PingRequest.properties.method.const = "pong") },
    [`${d}/PingRequest/properties/method/const`, 'method: value "ping" removed', "senders: agent"],
    [`${d}/PingRequest/properties/method/const`, 'method: value "pong" added', "readers: surface, relay"],
  ],
  [
    "an added alias",
    { surface: (s) => s.ChangeRow.properties.handle["x-read-from"].push("slug") },
    [`${d}/ChangeRow/properties/handle/x-read-from`, 'handle: x-read-from: alias "slug" added', "nobody"],
  ],
  [
    "an alias before the others",
    { surface: (s) => s.ChangeRow.properties.handle["x-read-from"].unshift("slug") },
    [
      `${d}/ChangeRow/properties/handle/x-read-from`,
      'handle: x-read-from: alias "slug" added',
      "senders: surface; readers: agent, relay",
    ],
  ],
  [
    "an alias before the inverse ones",
    { surface: (s) => s.ChangeFeed.properties.complete["x-read-from"].push("whole") },
    [
      `${d}/ChangeFeed/properties/complete/x-read-from`,
      'complete: x-read-from: alias "whole" added',
      "senders: surface; readers: agent, relay",
    ],
  ],
  [
    "a removed alias",
    { surface: (s) => s.ChangeRow.properties.handle["x-read-from"].pop() },
    [`${d}/ChangeRow/properties/handle/x-read-from`, 'handle: x-read-from: alias "key" removed', "senders: surface"],
  ],
  [
    "aliases in another order",
    { surface: (s) => s.ChangeRow.properties.handle["x-read-from"].reverse() },
    [
      `${d}/ChangeRow/properties/handle/x-read-from`,
      "handle: x-read-from: another order",
      "senders: surface; readers: agent, relay",
    ],
  ],
  [
    "a removed place",
    { surface: (s) => (s.RevisionReading["x-places"] = ["_meta"]) },
    [`${d}/RevisionReading/x-places`, 'x-places: place "" removed', "senders: surface"],
  ],
  [
    "an added place, which comes between the aliases",
    { surface: (s) => s.RevisionReading["x-places"].push("meta") },
    [`${d}/RevisionReading/x-places`, 'x-places: place "meta" added', "senders: surface; readers: agent, relay"],
  ],
  [
    "an added word",
    { surface: (s) => s.ChangeActor["x-vocabulary"].human.push("visitor") },
    [`${d}/ChangeActor/x-vocabulary/human`, 'x-vocabulary: word "visitor" added for human', "nobody"],
  ],
  [
    "a removed word",
    { surface: (s) => s.ChangeActor["x-vocabulary"].human.pop() },
    [`${d}/ChangeActor/x-vocabulary/human`, 'x-vocabulary: word "operator" removed', "senders: surface"],
  ],
  [
    "a word with another meaning",
    { surface: (s) => s.ChangeActor["x-vocabulary"].agent.push(s.ChangeActor["x-vocabulary"].human.pop()) },
    [
      `${d}/ChangeActor/x-vocabulary/agent`,
      'x-vocabulary: word "operator" means agent and no longer human',
      "senders: surface",
    ],
  ],
  [
    "another value for what cannot be read",
    { surface: (s) => (s.ChangeActor["x-otherwise"] = "other") },
    [
      `${d}/ChangeActor/x-otherwise`,
      'x-otherwise: "unknown" became "other"',
      "senders: surface; readers: agent, relay",
    ],
  ],
  [
    "a word that is reserved now",
    { surface: (s) => s.ToolName["x-reserved-endings"].words.push("sign") },
    [`${d}/ToolName/x-reserved-endings/words`, 'x-reserved-endings: word "sign" added', "senders: agent"],
  ],
  [
    "a new kind of value in a union",
    {
      surface: (s) => {
        s.Frame.oneOf.push({ $ref: "#/definitions/Accepted" });
        s.Frame["x-select"].unshift({ has: ["ok"], use: "Accepted" });
      },
    },
    [`${d}/Frame/oneOf/4`, "alternative Accepted added", "readers: agent, surface, relay"],
    [`${d}/Frame/x-select`, "x-select: entries added", "nobody"],
  ],
  [
    "members of a union that are chosen otherwise",
    { surface: (s) => s.Frame["x-select"].reverse() },
    [
      `${d}/Frame/x-select`,
      "x-select: members are chosen otherwise",
      "senders: agent, surface, relay; readers: agent, surface, relay",
    ],
  ],
  [
    "another sender",
    { surface: (s) => s.Invitation["x-sent-by"].push("relay") },
    [`${d}/Invitation/x-sent-by`, 'x-sent-by: sender "relay" added', "nobody"],
  ],
  [
    "a definition that moves to a place of its own",
    {
      surface: (s) => {
        s.Colour = { ...s.Actor.properties.color };
        s.Actor.properties.color = { $ref: "#/definitions/Colour" };
      },
    },
    [`${d}/Colour`, "new definition", "nobody"],
    [`${d}/Actor/properties/color`, "color: a schema in place became Colour", "nobody"],
  ],
  [
    "a reference to something narrower",
    {
      surface: (s) =>
        (s.CallMeta.properties["human-plus/participant"].properties.id = { $ref: "#/definitions/SessionId" }),
    },
    [
      `${d}/CallMeta/properties/human-plus~1participant/properties/id/minLength`,
      "human-plus/participant: id: minLength: 1 became nothing, no bound",
      "readers: surface, relay",
    ],
    [
      `${d}/CallMeta/properties/human-plus~1participant/properties/id/maxLength`,
      "human-plus/participant: id: maxLength: 128 became nothing, no bound",
      "readers: surface, relay",
    ],
    [
      `${d}/CallMeta/properties/human-plus~1participant/properties/id/pattern`,
      'human-plus/participant: id: pattern: "^[!-~]*$" became "^[A-Za-z0-9_-]{4,64}$"',
      "senders: agent; readers: surface, relay",
    ],
    [
      `${d}/CallMeta/properties/human-plus~1participant/properties/id`,
      "human-plus/participant: id: ParticipantId became SessionId",
      "nobody",
    ],
  ],
  [
    "a removed definition",
    { surface: (s) => delete s.LogMessageNotification },
    [`${d}/LogMessageNotification`, "definition removed", "senders: surface; readers: agent, relay"],
  ],
  [
    "a renamed definition",
    {
      surface: (s) => {
        s.LogNotification = s.LogMessageNotification;
        delete s.LogMessageNotification;
      },
    },
    [`${d}/LogMessageNotification`, "is called LogNotification now", "nobody"],
  ],
  [
    "other words",
    { surface: (s) => (s.Peer.description = "Somebody.") },
    [`${d}/Peer/description`, "description: other words", "nobody"],
  ],
  [
    "a lower limit",
    { surface: (s) => (s.Limits.properties.revisionBytes.default = 256) },
    [`${d}/Limits/properties/revisionBytes`, "revisionBytes: 512 became 256, lower", "senders: agent, surface"],
  ],
  [
    "a higher limit that only prose applies",
    { surface: (s) => (s.Limits.properties.toolPages.default = 40) },
    [`${d}/Limits/properties/toolPages`, "toolPages: 20 became 40, higher", "readers: agent, surface, relay"],
  ],
  [
    "a removed limit",
    { surface: (s) => delete s.Limits.properties.toolPages },
    [
      `${d}/Limits/properties/toolPages`,
      "toolPages removed",
      "senders: agent, surface, relay; readers: agent, surface, relay",
    ],
  ],
  [
    "a renamed limit",
    {
      surface: (s) => {
        s.Limits.properties.pages = s.Limits.properties.toolPages;
        delete s.Limits.properties.toolPages;
      },
    },
    [`${d}/Limits/properties/pages`, "toolPages is called pages now, with the same value", "nobody"],
  ],
];

const relayCases: readonly Case[] = [
  [
    "a removed route",
    { relay: (r) => delete r.operations.sendToSurface },
    ["/operations/sendToSurface", "route POST /{session}/inbox removed", "senders: agent"],
  ],
  [
    "another address",
    { relay: (r) => (r.channels.register.address = "/open") },
    ["/operations/register", "route POST /register removed", "senders: surface"],
    ["/operations/register", "new route POST /open, which every relay needs", "readers: relay"],
  ],
  [
    "a new optional route",
    { relay: (r) => (r.operations.peek = { ...r.operations.metrics, channel: { $ref: "#/channels/register" } }) },
    ["/operations/peek", "new optional route GET /register", "nobody"],
  ],
  [
    "a renamed operation",
    {
      relay: (r) => {
        r.operations.alive = r.operations.health;
        delete r.operations.health;
      },
    },
    ["/operations/alive", "health is called alive now", "nobody"],
  ],
  [
    "a route that a relay need not have",
    { relay: (r) => (r.operations.streamEvents["x-optional"] = true) },
    ["/operations/streamEvents/x-optional", "a relay need not have it now", "senders: agent, surface"],
  ],
  [
    "a route that is no longer for one of its users",
    { relay: (r) => (r.operations.streamEvents["x-used-by"] = ["agent"]) },
    ["/operations/streamEvents/x-used-by", "no longer for surface", "senders: surface"],
  ],
  [
    "another dialect of a long poll",
    { relay: (r) => (r.operations.pollOutbox["x-dialect"] = "queue") },
    ["/operations/pollOutbox/x-dialect", 'dialect "outbox" became "queue"', "senders: agent; readers: relay"],
  ],
  [
    "a route for one more user",
    { relay: (r) => r.operations.sendToSurface["x-used-by"].push("surface") },
    ["/operations/sendToSurface/x-used-by", "for surface as well", "nobody"],
  ],
  [
    "another content type",
    { relay: (r) => (r.components.messages.measured.contentType = "application/json") },
    [
      "/components/messages/measured/contentType",
      'reply 200: content type "text/plain; version=0.0.4" became "application/json"',
      "senders: relay; readers: anyone",
    ],
  ],
  [
    "a new optional query parameter",
    { relay: (r) => (query(r, "sendToAgents").properties.urgent = { description: "Soon.", type: "boolean" }) },
    ["/operations/sendToAgents/bindings/http/query/properties/urgent", "new optional query parameter urgent", "nobody"],
  ],
  [
    "a removed query parameter",
    { relay: (r) => delete query(r, "pollOutbox").properties.after },
    ["/operations/pollOutbox/bindings/http/query/properties/after", "query parameter after removed", "senders: agent"],
  ],
  [
    "a query parameter that is required now",
    { relay: (r) => query(r, "pollOutbox").required.push("client") },
    ["/operations/pollOutbox/bindings/http/query/properties/client", "client is required now", "senders: agent"],
  ],
  [
    "another unit",
    { relay: (r) => (query(r, "pollOutbox").properties.wait["x-unit"] = "milliseconds") },
    [
      "/operations/pollOutbox/bindings/http/query/properties/wait/x-unit",
      'wait: x-unit: "seconds" became "milliseconds"',
      "senders: agent; readers: relay",
    ],
  ],
  [
    "a tightened query parameter",
    { relay: (r) => (query(r, "pollOutbox").properties.after.maxLength = 8) },
    [
      "/operations/pollOutbox/bindings/http/query/properties/after/maxLength",
      "after: maxLength: 256 became 8, a tighter bound",
      "senders: agent",
    ],
  ],
  [
    "another success of a route",
    { relay: (r) => (r.components.messages.acceptedForDelivery.bindings.http.statusCode = 201) },
    ["/components/messages/acceptedForDelivery", "reply 202 removed", "senders: relay"],
    ["/components/messages/acceptedForDelivery", "new reply 201", "readers: agent"],
  ],
  [
    "another body of a route",
    { relay: (r) => (r.components.messages.registration.payload.$ref = "./surface.schema.json#/definitions/Accepted") },
    [
      "/components/messages/registration/payload/properties/session",
      "request body: required property session removed",
      "senders: surface; readers: relay",
    ],
    [
      "/components/messages/registration/payload/properties/token",
      "request body: required property token removed",
      "senders: surface; readers: relay",
    ],
    [
      "/components/messages/registration/payload/properties/ok",
      "request body: new required property ok",
      "senders: surface",
    ],
    ["/components/messages/registration/payload", "request body: RegisterRequest became Accepted", "nobody"],
  ],
  [
    "a new relay error code",
    {
      relay: (r) =>
        r["x-relay-errors"].unshift({
          status: 429,
          code: "too_many_tabs",
          error: "relay_busy",
          outcome: "not_applied",
          retryable: true,
          sentByRelay: true,
          description: "Too many.",
        }),
    },
    ["/x-relay-errors/0", "new code 429 too_many_tabs", "nobody"],
  ],
  [
    "a new rule for refusals that exist already",
    {
      relay: (r) =>
        r["x-relay-errors"].splice(-1, 0, {
          status: 502,
          error: "relay_busy",
          outcome: "not_applied",
          retryable: true,
          sentByRelay: false,
          description: "Something before the relay.",
        }),
    },
    [
      `/x-relay-errors/${current.relayErrors.length - 1}`,
      "new rule for 502",
      "senders: relay; readers: agent, surface",
    ],
  ],
  [
    "a removed relay error code",
    { relay: (r) => r["x-relay-errors"].splice(0, 1) },
    ["/x-relay-errors/0", "code 410 session_gone removed", "senders: relay; readers: agent, surface"],
  ],
  [
    "another outcome of a refusal",
    { relay: (r) => (r["x-relay-errors"].at(-1).retryable = true) },
    [
      `/x-relay-errors/${current.relayErrors.length - 1}`,
      "5xx means relay_failed, unknown, to be retried and no longer relay_failed, unknown, not to be retried",
      "senders: relay; readers: agent, surface",
    ],
  ],
  [
    "another name on the event stream",
    { relay: (r) => (r.channels.events["x-event-stream"].frameEvent = "frame") },
    [
      "/channels/events/x-event-stream/frameEvent",
      'frameEvent "mcp" became "frame"',
      "senders: relay; readers: agent, surface",
    ],
  ],
  [
    "a removed header of the event stream",
    { relay: (r) => delete r.channels.events["x-event-stream"].headers["cache-control"] },
    [
      "/channels/events/x-event-stream/headers/cache-control",
      'cache-control "no-cache" removed',
      "senders: relay; readers: agent, surface",
    ],
  ],
  [
    "a name of the token in share links that is gone",
    { relay: (r) => r["x-share-links"].tokenParameters.pop() },
    ["/x-share-links/tokenParameters", 'tokenParameters: name "key" removed', "senders: surface"],
  ],
  [
    "another mount of share links",
    { relay: (r) => (r["x-share-links"].mount = "relay") },
    ["/x-share-links/mount", 'mount "agent-relay" became "relay"', "senders: surface; readers: agent"],
  ],
  [
    "another place for the token",
    { relay: (r) => (r.components.securitySchemes.tokenParameter.name = "t") },
    [
      "/components/securitySchemes/queryParameter",
      'queryParameter "token" became "t"',
      "senders: agent, surface; readers: relay",
    ],
  ],
  [
    "another revision of MCP",
    { relay: (r) => (r["x-protocol"].mcp = "2026-01-01") },
    [
      "/x-protocol/mcp",
      'mcp "2025-06-18" became "2026-01-01"',
      "senders: agent, surface, relay; readers: agent, surface, relay",
    ],
  ],
];

describe("a change of the contract is judged by who sends and who reads", () => {
  const cases = [...definitionCases, ...relayCases].map(([name, change, ...expected]) => ({ name, change, expected }));

  test.each(cases)("$name", ({ change, expected }) => {
    expect(verdicts(change)).toEqual(expected);
  });

  test("the same contract has no changes, whatever the order of its keys", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, reversed(member)]),
      );
    };
    const turned = buildModel({ surface: reversed(spec.surface), relay: reversed(spec.relay) } as typeof spec);
    expect(compareModels(current, turned)).toEqual([]);
  });

  test("a rule of relay errors that comes before the ones it was behind gives them its meaning", () => {
    const moved = edited({
      relay: (r) => {
        const rules = r["x-relay-errors"];
        const at = rules.findIndex((rule: Loose) => rule.status === "4xx" && rule.bodyContains === undefined);
        rules.unshift(...rules.splice(at, 1));
      },
    });
    const whats = compareModels(current, moved).map(({ what }) => what);
    const meaning = "means relay_protocol_error, not_applied, not to be retried";
    expect(whats).toContain(`429 ${meaning} and no longer relay_busy, not_applied, to be retried`);
    expect(whats.filter((what) => !what.includes(meaning))).toEqual([]);
  });

  test("every keyword of the contract has a rule", () => {
    const judged = new Set([...Object.keys(KEYWORD_RULES), ...STRUCTURAL_KEYWORDS]);
    expect([...SCHEMA_KEYWORDS].filter((keyword) => !judged.has(keyword))).toEqual([]);
  });
});

function query(relay: Loose, operation: string): Loose {
  return relay.operations[operation].bindings.http.query;
}

function errorCount(): number {
  return current.errors.length;
}
