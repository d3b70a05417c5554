import { transportNames } from "../transports.ts";

export function helpText(): string {
  return `human-plus-conformance: holds the contract of live surfaces against somebody else's surface or relay.

usage: human-plus-conformance surface '<share link>' [flags]
       human-plus-conformance relay <relay base URL> [flags]

  --json                     the report as JSON
  --junit                    the report as JUnit XML
  --level <level>            must, should or optional: the weakest rules to look at (optional)
  --timeout-ms <count>       how long one answer may take (10000)
  --local                    the relay is on this machine or in a private network; allows plain http to loopback.
                             --allow-loopback-http is another name of it
  --help, --version

surfaces:
  --transport <name>         ${transportNames.join(", ")} (sse)
  --mount <path>             where the relay of a link with ?session= is mounted (agent-relay)
  --read <tool> [arguments]  a tool that only reads; without it only the change feed is called
  --observe <seconds>        asks somebody to act on the surface twice, and watches for so long each time
  --probe-write <tool> <arguments>
                             writes, to see whether stale pins are refused: says before what it will write. Give a
                             call that conflicts with itself, such as one that moves a certain card

relays:
  --origin <origin>          an origin whose browsers should be able to use the relay

Arguments are a JSON object in quotation marks of the shell. The report is on standard output, all else on standard
error. Exit codes: 0 all that can be seen holds, 1 something does not hold, 2 wrong command line, 3 could not connect.
`;
}
