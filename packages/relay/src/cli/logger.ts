import { authentication } from "@human-plus/core/protocol";
import { destination, type Logger, pino } from "pino";

export type { Logger };

const secretKeys = [authentication.queryParameter, "authorization", "target", "headers"];

/**
 * Logs JSON lines to standard error. URLs are never logged: they hold tokens. Should a secret get into a line in spite of
 * that, under the name it has on the wire, it is redacted.
 */
export function createLogger(level: string): Logger {
  return pino(
    {
      name: "human-plus-relay",
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`]), censor: "[redacted]" },
    },
    destination({ dest: 2, sync: true }),
  );
}
