import { HumanPlusError } from "../error.ts";
import { isLoopbackAddress, isPublicAddress, literalAddress } from "./address-policy.ts";
import type { ConnectProxy } from "./tunnel-route.ts";

/** How connections to relays leave this process. */
export type Egress =
  /**
   * Through a CONNECT proxy that you trust: it looks names up and decides which addresses may be reached. An http or
   * https URL, with or without credentials, which go to the proxy alone.
   */
  | { readonly proxy: string }
  /** Straight, to public addresses only: every address of a name is checked on the look-up that the socket uses. */
  | { readonly direct: "pinned" }
  /** Straight, and no address is checked: only for work on your own machine. Plain http to loopback is allowed. */
  | { readonly unverified: true };

export interface EgressPolicyOptions {
  /** How connections leave. There is no default: it is a decision about your network. */
  egress: Egress;
  /**
   * The hosts a relay may have, as exact names: no wildcards, no ports. Needed unless `egress` is unverified, where
   * every host may be one if this is left out.
   */
  allowedRelayHosts?: readonly string[] | undefined;
  /** The ports a relay may have. @default [443], or any where `egress` is unverified */
  allowedRelayPorts?: readonly number[] | undefined;
}

/** A way out, read from its option. */
export type EgressMode =
  | { readonly kind: "proxy"; readonly proxy: ConnectProxy }
  | { readonly kind: "pinned" }
  | { readonly kind: "unverified" };

/** What may be reached, and how. */
export interface EgressPolicy {
  readonly mode: EgressMode;
  /** @throws HumanPlusError `endpoint_refused`; the message names the rule and never quotes the URL */
  check(relayBaseUrl: string): void;
}

const MODES =
  'egress should be one of { proxy: "http://..." }, a CONNECT proxy that decides what may be reached; ' +
  '{ direct: "pinned" }, straight to public addresses only; { unverified: true }, for work on your own machine';

/** @throws HumanPlusError `invalid_argument` */
export function createEgressPolicy({
  egress,
  allowedRelayHosts,
  allowedRelayPorts,
}: EgressPolicyOptions): EgressPolicy {
  const mode = readEgress(egress);
  const isUnverified = mode.kind === "unverified";
  if (allowedRelayHosts === undefined ? !isUnverified : allowedRelayHosts.length === 0)
    throw invalid("allowedRelayHosts should name the hosts of the relays, such as relay.example.com");
  const hosts = allowedRelayHosts === undefined ? undefined : new Set(allowedRelayHosts.map(hostName));
  const ports = allowedRelayPorts ?? (isUnverified ? undefined : [443]);
  if (ports?.some((port) => !Number.isInteger(port) || port < 1 || port > 65_535))
    throw invalid("allowedRelayPorts should hold port numbers");

  return {
    mode,
    check(relayBaseUrl) {
      // A row may have been written by other code: nothing about it is taken for granted.
      if (typeof relayBaseUrl !== "string" || !URL.canParse(relayBaseUrl)) throw refused("should be an absolute URL");
      const { protocol, hostname, port, username, password } = new URL(relayBaseUrl);
      // A lone "?" or "#", and an empty user, are gone after parsing. Backslashes and blanks are what parsers disagree on.
      if (/[?#\\\s]/.test(relayBaseUrl)) throw refused("should have no query, fragment, backslash or blank");
      if (username !== "" || password !== "" || /^[^/]*\/\/[^/]*@/.test(relayBaseUrl))
        throw refused("should have no credentials");
      if (protocol !== "https:" && protocol !== "http:") throw refused("should use https");
      if (!/^https?:\/\/[^/]/i.test(relayBaseUrl)) throw refused("should have two slashes before its host");
      // Parsing takes the dot from a number; from a name it does not.
      if (hostname.endsWith(".") || /^[^/]*\/\/[^/]*\.(:\d*)?(\/|$)/.test(relayBaseUrl))
        throw refused("should have a host without a dot at its end");
      const literal = literalAddress(hostname);
      if (protocol === "http:") {
        if (!isUnverified)
          throw refused("should use https; http needs egress { unverified: true }, and a loopback host");
        if (hostname !== "localhost" && (literal === undefined || !isLoopbackAddress(literal)))
          throw refused("should use https; http is for loopback hosts only");
      }
      if (!isUnverified && literal !== undefined && !isPublicAddress(literal))
        throw refused("should have a host that is a name, or a public address");
      if (hosts !== undefined && !hosts.has(hostname)) throw refused("should have a host of allowedRelayHosts");
      const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
      if (ports !== undefined && !ports.includes(number)) throw refused("should have a port of allowedRelayPorts");
    },
  };
}

function readEgress(egress: unknown): EgressMode {
  if (typeof egress !== "object" || egress === null || Object.keys(egress).length !== 1) throw invalid(MODES);
  const { proxy, direct, unverified } = egress as Record<string, unknown>;
  if (unverified === true) return { kind: "unverified" };
  if (direct === "pinned") return { kind: "pinned" };
  if (typeof proxy !== "string") throw invalid(MODES);
  return { kind: "proxy", proxy: readProxy(proxy) };
}

/** @throws HumanPlusError which does not quote the URL: it may hold credentials */
function readProxy(text: string): ConnectProxy {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    throw invalid("egress.proxy should be an http or https URL");
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw invalid("egress.proxy should have no path, query or fragment");
  const isSecure = url.protocol === "https:";
  return {
    isSecure,
    host: literalAddress(url.hostname) ?? url.hostname,
    port: Number(url.port || (isSecure ? 443 : 80)),
    authorization: url.username === "" && url.password === "" ? undefined : basic(url),
  };
}

function basic({ username, password }: URL): string {
  return `Basic ${Buffer.from(percentDecoded(`${username}:${password}`), "latin1").toString("base64")}`;
}

/** The bytes that a part of a URL stands for, one in each character. Unlike decodeURIComponent it takes all of them. */
function percentDecoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** A name as URLs have it: lower case, punycode. */
function hostName(name: string): string {
  const url = `https://${name}/`;
  const host = URL.canParse(url) ? new URL(url) : undefined;
  const isBare = host !== undefined && host.port === "" && host.href === `https://${host.hostname}/`;
  if (!isBare || name.includes("*") || host.hostname.endsWith("."))
    throw invalid("allowedRelayHosts should hold bare host names, such as relay.example.com");
  return host.hostname;
}

function invalid(message: string): HumanPlusError {
  return new HumanPlusError("invalid_argument", message);
}

function refused(rule: string): HumanPlusError {
  return new HumanPlusError("endpoint_refused", `relayBaseUrl ${rule}`);
}
