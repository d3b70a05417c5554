import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { asyncApiProblems } from "../src/async-api.ts";
import { buildModel } from "../src/build-model.ts";
import { checkExamples } from "../src/check-examples.ts";
import { loadSpec, RELAY_FILE, SURFACE_FILE } from "../src/load.ts";
import { SpecError } from "../src/problem.ts";
import { copyContract, type Edit, editContract, scratchDirectory, specDirectory } from "./contract.ts";

const spec = await loadSpec(specDirectory);

/** What the generator complains about, as `file#pointer: message`. */
async function complaints(run: () => unknown): Promise<string[]> {
  try {
    await run();
    return [];
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    return error.message.split("\n");
  }
}

const definitions = `${SURFACE_FILE}#/definitions`;
const shape = "does not have the shape that PROTOCOL.md section 9 gives";

type Row = readonly [name: string, change: Edit, ...complaints: string[]];

const rows: readonly Row[] = [
  [
    "an unknown keyword",
    { surface: (s) => (s.Actor.properties.name.minimumLength = 1) },
    `${definitions}/Actor/properties/name/minimumLength: unknown keyword minimumLength`,
  ],
  [
    "an unknown vendor keyword",
    { surface: (s) => (s.ChangeRow.properties.handle["x-read-form"] = ["id"]) },
    `${definitions}/ChangeRow/properties/handle/x-read-form: unknown keyword x-read-form`,
  ],
  [
    "an unknown extension of the relay document",
    { relay: (r) => (r.operations.poll["x-dialekt"] = "poll") },
    `${RELAY_FILE}#/operations/poll/x-dialekt: unknown keyword x-dialekt`,
  ],
  [
    "an inherited name as keyword",
    { surface: (s) => (s.Peer.constructor = 1) },
    `${definitions}/Peer/constructor: unknown keyword constructor`,
  ],
  ...(
    [
      ["x-read-from", "handle"],
      ["x-first", "last"],
      ["x-coerce", true],
      ["x-trim", false],
      ["x-vocabulary", { human: "user" }],
      ["x-max-bytes", -1],
      ["x-drop-invalid", []],
    ] as const
  ).map(
    ([keyword, value]): Row => [
      `the wrong shape of ${keyword}`,
      { surface: (s) => (s.ChangeRow.properties.handle[keyword] = value) },
      `${definitions}/ChangeRow/properties/handle/${keyword}: ${keyword} ${shape}`,
    ],
  ),
  ...(
    [
      ["x-wrap", { into: "frames", list: true }],
      ["x-select", [{ has: "method", use: "Request" }]],
      ["x-sent-by", ["server"]],
      ["x-reserved-endings", { words: ["confirm"] }],
      ["x-places", []],
    ] as const
  ).map(
    ([keyword, value]): Row => [
      `the wrong shape of ${keyword}`,
      { surface: (s) => (s.Peer[keyword] = value) },
      `${definitions}/Peer/${keyword}: ${keyword} ${shape}`,
    ],
  ),
  [
    "names that differ in case alone",
    { surface: (s) => (s.actor = { description: "Again.", type: "string" }) },
    `${definitions}/actor: duplicate name: actor and Actor`,
  ],
  [
    "values that differ in case alone",
    { surface: (s) => s.Priority.oneOf.push({ const: "Normal", description: "Again." }) },
    `${definitions}/Priority/oneOf: duplicate name: Normal and normal`,
  ],
  [
    "a limit that does not exist",
    { surface: (s) => (s.Revision["x-max-bytes"] = "revisionSize") },
    `${definitions}/Revision/x-max-bytes: there is no limit named revisionSize`,
  ],
  [
    "a limit without a value",
    { surface: (s) => delete s.Limits.properties.toolPages.default },
    `${definitions}/Limits/properties/toolPages: a constant needs a default`,
  ],
  [
    "a required property that is not described",
    { surface: (s) => s.Actor.required.push("team") },
    `${definitions}/Actor/required: team is required but not described`,
  ],
  [
    "a definition without a description",
    { surface: (s) => delete s.Actor.description },
    `${definitions}/Actor: a definition needs a description`,
  ],
  [
    "a property without a description",
    { surface: (s) => delete s.Actor.properties.name.description },
    `${definitions}/Actor/properties/name: a property needs a description`,
  ],
  [
    "an error code without an outcome",
    { surface: (s) => delete s.ErrorCode.oneOf[0]["x-outcome"] },
    `${definitions}/ErrorCode/oneOf/0: an error code needs x-outcome and x-retryable`,
  ],
  [
    "an outcome that does not exist",
    { surface: (s) => s.ErrorCode.oneOf[0]["x-outcome"].push("maybe") },
    `${definitions}/ErrorCode/oneOf/0/x-outcome: maybe is no Outcome`,
  ],
  [
    "a relay error that names an unknown ErrorCode",
    { relay: (r) => (r["x-relay-errors"][0].error = "surface_gone") },
    `${RELAY_FILE}#/x-relay-errors/0/error: surface_gone is no ErrorCode`,
  ],
  [
    "a relay error with an outcome that its code cannot have",
    { relay: (r) => (r["x-relay-errors"][0].outcome = "applied") },
    `${RELAY_FILE}#/x-relay-errors/0/outcome: ErrorCode does not let surface_unavailable end as applied`,
  ],
  [
    "a counter that is not there",
    { surface: (s) => (s.ChangeFeed.properties.changes["x-drop-invalid"] = "lost") },
    `${definitions}/ChangeFeed: x-drop-invalid names lost, which is no property with an x-otherwise`,
  ],
  [
    "a choice that is no member",
    { surface: (s) => (s.Frame["x-select"][0].use = "Peer") },
    `${definitions}/Frame/x-select: Peer is no member of oneOf`,
  ],
  [
    "a tag that does not tell",
    { surface: (s) => (s.ContentPart["x-tag"] = "kind") },
    ...["TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource"].map(
      (name, index) => `${definitions}/ContentPart/oneOf/${index}: ${name} has no text constant kind to be told by`,
    ),
  ],
  [
    "a word for a value that does not exist",
    { surface: (s) => (s.ChangeActor["x-vocabulary"].robot = ["robot"]) },
    `${definitions}/ChangeActor/x-vocabulary/robot: robot is no value of the enumeration`,
  ],
  [
    "a word that never matches",
    { surface: (s) => s.ChangeActor["x-vocabulary"].human.push("Visitor") },
    `${definitions}/ChangeActor/x-vocabulary/human: Visitor never matches: words are trimmed and in lower case`,
  ],
  [
    "a word with two meanings",
    { surface: (s) => s.ChangeActor["x-vocabulary"].other.push("user") },
    `${definitions}/ChangeActor/x-vocabulary/other: user means human already`,
  ],
  [
    "a value for the unreadable that is no value",
    { surface: (s) => (s.ChangeActor["x-otherwise"] = "nobody") },
    `${definitions}/ChangeActor/x-otherwise: x-otherwise is a value that the schema itself refuses`,
  ],
  [
    "an alias where nothing reads",
    {
      surface: (s) =>
        (s.InitializeRequest.properties.params.properties.protocolVersion["x-read-from"] = ["protocolVersion"]),
    },
    `${definitions}/InitializeRequest/properties/params/properties/protocolVersion/x-read-from: x-read-from does not work here`,
  ],
  [
    "a keyword of candidates without candidates",
    { surface: (s) => (s.Activity.properties.action["x-trim"] = true) },
    `${definitions}/Activity/properties/action/x-trim: x-trim needs x-read-from beside it`,
  ],
  [
    "a reader where nothing reads",
    {
      surface: (s) =>
        (s.Activity.properties.rows = {
          description: "Rows.",
          type: "array",
          items: { $ref: "#/definitions/ChangeRow" },
        }),
    },
    `${definitions}/Activity/properties/rows/items/$ref: ChangeRow is a reader, and nothing reads it here`,
  ],
  [
    "a reader as one of several",
    { surface: (s) => s.Frame.oneOf.push({ $ref: "#/definitions/PollBody" }) },
    `${definitions}/Frame/oneOf/4/$ref: PollBody is a reader, and nothing reads it here`,
  ],
];

/** Only found in the text of the files. */
const texts: ReadonlyArray<readonly [name: string, file: string, from: string, to: string, ...complaints: string[]]> = [
  [
    "a name that stands twice",
    SURFACE_FILE,
    '"Peer": {',
    '"Peer": { "description": "", "description": "",',
    `${definitions}/Peer/description: this name stands twice`,
    `${definitions}/Peer/description: this name stands twice`,
  ],
  [
    "a name that stands twice in the relay document",
    RELAY_FILE,
    "  register:\n    address: /register",
    "  register:\n    address: /register\n    address: /enroll",
    `${RELAY_FILE}#/channels/register/address: this name stands twice`,
  ],
  [
    "a reference to nothing",
    SURFACE_FILE,
    "#/definitions/Peer",
    "#/definitions/Pear",
    `${definitions}/PeerJoinedNotification/properties/params/$ref: $ref to #/definitions/Pear, which does not exist`,
  ],
  [
    "a reference from the relay document to nothing",
    RELAY_FILE,
    "./surface.schema.json#/definitions/RegisterRequest",
    "./surface.schema.json#/definitions/Registration",
    `${RELAY_FILE}#/components/messages/registration/payload/$ref: $ref to ./surface.schema.json#/definitions/Registration, which does not exist`,
  ],
  [
    "a reference in a circle",
    SURFACE_FILE,
    '"$ref": "#/definitions/ClientId"',
    '"$ref": "#/definitions/PeerLeftNotification"',
    `${definitions}/Peer: cyclic $ref: Peer -> PeerLeftNotification -> Peer`,
  ],
];

describe("a bad contract is refused, with file and pointer", () => {
  test.each(rows.map(([name, change, ...expected]) => ({ name, change, expected })))(
    "$name",
    async ({ change, expected }) => {
      const { surface, relay } = structuredClone(spec);
      change.surface?.(surface["definitions"], surface);
      change.relay?.(relay);
      expect(await complaints(() => buildModel({ surface, relay }))).toEqual(expected);
    },
  );

  test.each(texts)("%s", async (_name, file, from, to, ...expected) => {
    using scratch = scratchDirectory();
    copyContract(scratch.path);
    const path = join(scratch.path, file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
    expect(await complaints(() => loadSpec(scratch.path))).toEqual(expected);
  });

  test("an example in the relay document that disagrees with its schema", async () => {
    const relay = structuredClone(spec.relay) as Parameters<NonNullable<Edit["relay"]>>[0];
    relay.components.messages.registration.examples[0].payload.session = "a b";
    const complaint = `${RELAY_FILE}#/components/messages/registration/examples/0/payload: the example disagrees with its schema: /session must match pattern "^[A-Za-z0-9_-]{4,64}$"`;
    const check = () => checkExamples({ ...spec, relay }, buildModel(spec), specDirectory);
    expect(await complaints(check)).toEqual([complaint]);
  });

  test("an example file that disagrees with its schema, and a reading that does", async () => {
    using scratch = scratchDirectory();
    for (const folder of ["valid/Peer", "valid/RevisionReading"])
      mkdirSync(join(scratch.path, "examples", folder), { recursive: true });
    writeFileSync(join(scratch.path, "examples/valid/Peer/odd.json"), '{"client":""}');
    writeFileSync(join(scratch.path, "examples/valid/RevisionReading/odd.json"), '{"revision":7}');
    writeFileSync(join(scratch.path, "examples/valid/RevisionReading/odd.expected.json"), '{"revision":7}');
    const found = await complaints(() => checkExamples(spec, buildModel(spec), scratch.path));
    expect(found).toEqual([
      "examples/valid/Peer/odd.json#/client: the example disagrees with its schema: must NOT have fewer than 1 characters",
      "examples/valid/RevisionReading/odd.expected.json#/revision: the example disagrees with its schema: must be string",
    ]);
  });

  test("examples of a definition that does not exist, and examples that are no JSON", async () => {
    using scratch = scratchDirectory();
    cpSync(join(specDirectory, "examples/valid/Peer"), join(scratch.path, "examples/valid/Pear"), { recursive: true });
    cpSync(join(specDirectory, "examples/valid/Peer"), join(scratch.path, "examples/invalid/Peer"), {
      recursive: true,
    });
    writeFileSync(join(scratch.path, "examples/invalid/Peer/odd.json"), "{");
    const found = await complaints(() => checkExamples(spec, buildModel(spec), scratch.path));
    expect(found).toHaveLength(2);
    expect(found).toContain("examples/valid/Pear#: there is no definition of this name");
    expect(found.join("\n")).toContain("examples/invalid/Peer/odd.json#: SyntaxError");
  });

  test("a relay document that AsyncAPI itself refuses", async () => {
    using scratch = scratchDirectory();
    copyContract(scratch.path);
    editContract(scratch.path, { relay: (r) => (r.operations.poll.action = "answer") });
    const pointers = (await asyncApiProblems(scratch.path)).map(({ file, pointer }) => `${file}#${pointer}`);
    expect(pointers).toContain(`${RELAY_FILE}#/operations/poll/action`);
  });
});
