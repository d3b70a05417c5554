// The messages of the contract as TypeBox schemas, for people who compose them. Needs the peer dependency typebox.
// biome-ignore lint/performance/noReExportAll: the generated file names each schema once
export * from "./gen/schemas.ts";
