import { lookup as systemLookup } from "node:dns/promises";
import { canonicalAddress, literalAddress } from "./address-policy.ts";
import { ConnectError } from "./connect-error.ts";

/** Gives the addresses of a name, as `dns.lookup` does. @throws what it likes, with a `code` such as `ENOTFOUND` */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export interface CheckedLookupOptions {
  /** @default the look-up of the system */
  lookup?: Lookup | undefined;
  timeoutMs: number;
}

/** The addresses of a name as the name has them now, all of them fit to be connected to, or a failure. */
export interface CheckedLookup {
  /**
   * Looks a name up. Whoever asks while the same name is being looked up gets the same answer. A literal address is
   * its own answer.
   *
   * @throws ConnectError, also when a single address is not accepted
   */
  resolve(hostname: string, accepts: (address: string) => boolean): Promise<readonly string[]>;
  /** Tells of each answer: the addresses, or `undefined` where there are none or one was not accepted. */
  onAnswer(listener: (hostname: string, addresses: readonly string[] | undefined) => void): void;
}

/** Addresses that one name may have. A relay has a few; hundreds are an attempt at something. */
const MAX_ADDRESSES = 64;

export function createCheckedLookup({ lookup = lookUp, timeoutMs }: CheckedLookupOptions): CheckedLookup {
  const listeners = new Set<(hostname: string, addresses: readonly string[] | undefined) => void>();
  const pending = new Map<string, Promise<readonly string[]>>();

  function ask(hostname: string): Promise<readonly string[]> {
    const known = pending.get(hostname);
    if (known !== undefined) return known;
    const answer = within(timeoutMs, async () => lookup(hostname)).finally(() => pending.delete(hostname));
    pending.set(hostname, answer);
    return answer;
  }

  function tell(hostname: string, addresses: readonly string[] | undefined): void {
    for (const listener of listeners) listener(hostname, addresses);
  }

  return {
    async resolve(hostname, accepts) {
      const literal = literalAddress(hostname);
      if (literal !== undefined) return checked([literal], accepts);
      try {
        const addresses = checked(await ask(hostname), accepts);
        tell(hostname, addresses);
        return addresses;
      } catch (error) {
        tell(hostname, undefined);
        throw error;
      }
    },
    onAnswer(listener) {
      listeners.add(listener);
    },
  };
}

/** @throws ConnectError */
function checked(found: readonly string[], accepts: (address: string) => boolean): readonly string[] {
  if (!Array.isArray(found) || found.length === 0) throw new ConnectError("ENOTFOUND");
  if (found.length > MAX_ADDRESSES) throw new ConnectError("TOO_MANY_ADDRESSES");
  const addresses = new Set<string>();
  for (const text of found) {
    const address = typeof text === "string" && accepts(text) ? canonicalAddress(text) : undefined;
    if (address === undefined) throw new ConnectError("ADDRESS_REFUSED");
    addresses.add(address);
  }
  return [...addresses];
}

async function lookUp(hostname: string): Promise<readonly string[]> {
  return (await systemLookup(hostname, { all: true })).map(({ address }) => address);
}

/** @throws ConnectError */
async function within<T>(timeoutMs: number, run: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectError("LOOKUP_FAILED")), timeoutMs).unref();
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    throw isNoSuchName(error) ? new ConnectError("ENOTFOUND") : new ConnectError("LOOKUP_FAILED");
  } finally {
    clearTimeout(timer);
  }
}

function isNoSuchName(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "ENOTFOUND" || code === "ENODATA";
}
