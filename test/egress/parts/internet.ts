import { connect, isIP, type LookupFunction, Socket, type TcpNetConnectOpts } from "node:net";
import type { Lookup, TcpConnect } from "@human-plus/core/relay";

export interface InternetOptions {
  /** What a name answers with. Nothing is a name that does not exist. */
  answer?: Lookup;
  /** Ports of this machine that stand for public addresses. */
  servers?: Readonly<Record<string, number>>;
}

/** The internet as an endpoint meets it: names, and addresses of which none is really dialled but loopback ones. */
export interface Internet {
  readonly lookup: Lookup;
  readonly connect: TcpConnect;
  readonly lookedUp: string[];
  /** Addresses that somebody tried to connect to. */
  readonly dialled: string[];
  /** Addresses that a socket was offered for each attempt. */
  readonly offered: (readonly string[])[];
}

export function createInternet({ answer = async () => [], servers = {} }: InternetOptions = {}): Internet {
  const lookedUp: string[] = [];
  const dialled: string[] = [];
  const offered: (readonly string[])[] = [];
  return {
    lookedUp,
    dialled,
    offered,
    lookup(hostname) {
      lookedUp.push(hostname);
      return answer(hostname);
    },
    connect(options) {
      const addresses = addressesFor(options);
      const [address = ""] = addresses;
      offered.push(addresses);
      dialled.push(address);
      if (address.startsWith("127.") || address === "::1") return connect({ host: address, port: options.port });
      const port = servers[address];
      if (port === undefined) return unreachable();
      const socket = connect({ host: "127.0.0.1", port });
      return Object.defineProperty(socket, "remoteAddress", { get: () => address });
    },
  };
}

/** All that the socket would try, had it tried: a look-up that answers at once is all that an endpoint may give it. */
function addressesFor({ host = "", lookup }: TcpNetConnectOpts): string[] {
  if (isIP(host) !== 0) return [host];
  const found: string[] = [];
  const take: Parameters<LookupFunction>[2] = (_, addresses) => {
    if (Array.isArray(addresses)) found.push(...addresses.map(({ address }) => address));
  };
  lookup?.(host, { all: true }, take);
  return found;
}

function unreachable(): Socket {
  const socket = new Socket();
  queueMicrotask(() => socket.destroy(Object.assign(new Error("unreachable"), { code: "ENETUNREACH" })));
  return socket;
}
