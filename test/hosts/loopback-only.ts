import { Socket } from "node:net";

/** Hosts bring code that likes to report home. Here nothing leaves this machine: a connection to anywhere else fails before it is tried. */
const connect = Socket.prototype.connect;

Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  const [first] = args;
  const options = (Array.isArray(first) ? first[0] : first) as { host?: string; path?: string } | number | string;
  const host = typeof options === "object" ? options.host : typeof args[1] === "string" ? args[1] : undefined;
  const local = host === undefined || ["localhost", "127.0.0.1", "::1"].includes(host);
  if (!local) throw new Error(`a test may reach this machine only, not ${host}`);
  return Reflect.apply(connect, this, args);
} as typeof connect;
