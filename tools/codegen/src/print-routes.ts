import type { SourceFile } from "./file.ts";
import type { Model, Route } from "./model.ts";
import { propertyKey, upperFirst } from "./names.ts";
import { typeText } from "./print-types.ts";

const SEAM = "../route-url.ts";

/** routes.ts: paths and query parameters of a relay, for those who call it and for those who are it. */
export function printRoutes(model: Model, file: SourceFile): void {
  file.doc("The routes of a relay. PROTOCOL.md section 2.");
  file.print("export const routes = {");
  for (const { name, method, address, summary, query, optional } of model.routes) {
    file.doc(`\`${method} {base}${address}\`: ${summary}`, "  ");
    const names = query.map((parameter) => `${propertyKey(parameter.name)}: ${JSON.stringify(parameter.name)}`);
    file.print(
      `  ${name}: { method: "${method}", address: "${address}", optional: ${optional}, query: { ${names.join(", ")} } },`,
    );
  }
  file.print("} as const;", "");
  file.doc("Names a route of a relay.");
  file.print("export type RouteName = keyof typeof routes;", "");
  for (const route of model.routes) printRoute(route, file);
}

function printRoute({ name, method, address, summary, query }: Route, file: SourceFile): void {
  const hasSession = address.includes("{session}");
  const type = `${upperFirst(name)}Query`;
  if (query.length > 0) {
    file.doc(`Query of \`${method} {base}${address}\`.`);
    file.print(`export interface ${type} {`);
    for (const parameter of query) {
      file.doc(parameter.description, "  ");
      if (parameter.schema.kind === "ref") file.type("./types.ts", parameter.schema.name);
      file.print(
        `  ${propertyKey(parameter.name)}${parameter.required ? "" : "?"}: ${typeText(parameter.schema)}${parameter.required ? "" : " | undefined"};`,
      );
    }
    file.print("}", "");
  }
  const parameters = [
    "base: string",
    ...(hasSession ? ["session: string"] : []),
    ...(query.length > 0 ? [`query: ${type}`] : []),
  ];
  const names = query.map((parameter) => JSON.stringify(parameter.name)).join(", ");
  const session = hasSession ? "session" : "undefined";
  const pairs = query.length > 0 ? `, [${names}], query` : "";
  file.doc(`URL for \`${method} {base}${address}\`: ${summary} It may hold the token: never log it.`);
  file.print(`export function ${name}Url(${parameters.join(", ")}): string {`);
  file.print(`  return ${file.value(SEAM, "routeUrl")}(base, "${address}", ${session}${pairs});`, "}", "");
}
