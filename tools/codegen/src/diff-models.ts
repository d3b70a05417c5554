import type { Change } from "./diff-change.ts";
import { compareDefinitions } from "./diff-definitions.ts";
import { compareLimits } from "./diff-limits.ts";
import { compareNames } from "./diff-names.ts";
import { compareRelayErrors } from "./diff-relay-errors.ts";
import { compareRoutes } from "./diff-routes.ts";
import { SchemaComparison, type SchemaSource } from "./diff-schemas.ts";
import type { Model } from "./model.ts";

/** Every change from one contract to the next, judged by PROTOCOL.md section 10; breaking ones first. */
export function compareModels(before: Model, after: Model): Change[] {
  const schemas = new SchemaComparison(sourceOf(before), sourceOf(after));
  const changes = [
    ...compareDefinitions(before, after, schemas),
    ...compareLimits(before, after),
    ...compareRoutes(before, after, schemas),
    ...compareRelayErrors(before, after),
    ...compareNames(before, after),
  ];
  const rank = ({ level }: Change) => ["major", "minor", "patch"].indexOf(level);
  return changes.sort((a, b) => rank(a) - rank(b));
}

function sourceOf({ definitions, limits }: Model): SchemaSource {
  const byName = new Map(definitions.map(({ name, json }) => [name, json]));
  return { definition: (name) => byName.get(name) ?? {}, limits };
}
