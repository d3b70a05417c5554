import { environmentName, flagList } from "./flags.ts";

export function helpText(): string {
  const rows = flagList.map(({ name, kind, help, otherwise }) => {
    const flag = `  --${name}${kind === "switch" ? "" : ` <${kind}>`}`;
    return `${flag.padEnd(30)}${help}${otherwise === "" ? "" : ` (${otherwise})`}`;
  });
  return [
    "human-plus-relay: carries frames between live surfaces and the agents that join them.",
    "",
    "usage: human-plus-relay [flags]",
    "",
    ...rows,
    "",
    `Each flag is also an environment variable: --ttl-ms is ${environmentName("ttl-ms")}. A flag beats its variable.`,
    "Times are milliseconds, sizes are bytes. The first line on standard output names the relay base URL; logs are",
    "JSON lines on standard error. SIGTERM and SIGINT: no more connections, answers in flight, then exit 0.",
    "",
  ].join("\n");
}
