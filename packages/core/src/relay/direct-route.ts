import { isIP, type LookupFunction } from "node:net";
import { canonicalAddress, isLoopbackAddress, isPublicAddress } from "./address-policy.ts";
import type { CheckedLookup } from "./checked-lookup.ts";
import { ConnectError } from "./connect-error.ts";
import { connected, type Route } from "./connector.ts";

export interface DirectRouteOptions {
  lookup: CheckedLookup;
  /** Only public addresses. Otherwise any, except that plain http is for loopback. */
  isPinned: boolean;
}

/**
 * Straight to the relay. All addresses of its name are checked before a connection is tried, and the socket is given
 * those and no others: there is no second look-up that could answer differently.
 */
export function createDirectRoute({ lookup, isPinned }: DirectRouteOptions): Route {
  return async ({ hostname, port, protocol }, { connect, signal }) => {
    const accepts = isPinned ? isPublicAddress : protocol === "http:" ? isLoopbackAddress : () => true;
    const addresses = await lookup.resolve(hostname, accepts);
    signal.throwIfAborted();
    const socket = connect({ host: hostname, port, lookup: answerWith(addresses), autoSelectFamily: true });
    await connected(socket, signal);
    const address = canonicalAddress(socket.remoteAddress ?? "");
    if (address !== undefined && addresses.includes(address)) return { socket, address };
    socket.destroy();
    throw new ConnectError("ADDRESS_REFUSED");
  };
}

/** A look-up with one answer. */
function answerWith(addresses: readonly string[]): LookupFunction {
  const answer = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, { all, family }, callback) => {
    const fit = answer.filter((one) => (family !== 4 && family !== 6 ? true : one.family === family));
    const [first] = fit;
    if (first === undefined) return callback(Object.assign(new Error("ENOTFOUND"), { code: "ENOTFOUND" }), "");
    if (all) callback(null, fit);
    else callback(null, first.address, first.family);
  };
}
