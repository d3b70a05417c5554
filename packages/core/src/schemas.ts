// The messages of the contract as TypeBox schemas, for people who compose them. Needs the peer dependency typebox.
export * from "./gen/schemas.ts";
