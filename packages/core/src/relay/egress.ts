import { HumanPlusError } from "../error.ts";

/** How connections to relays leave this process. */
export type Egress =
  /** Through a CONNECT proxy that you trust: it decides which addresses may be reached. */
  | { readonly proxy: string }
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

/** What may be reached, and how. */
export interface EgressPolicy {
  readonly proxy: string | undefined;
  /** @throws HumanPlusError `endpoint_refused`; the message names the rule and never quotes the URL */
  check(relayBaseUrl: string): void;
}

const MODES =
  'egress should be { proxy: "http://..." }, a CONNECT proxy that decides what may be reached, or { unverified: true }, ' +
  "for work on your own machine only. Connecting straight to checked addresses is not available yet";

/** @throws HumanPlusError `invalid_argument` */
export function createEgressPolicy({
  egress,
  allowedRelayHosts,
  allowedRelayPorts,
}: EgressPolicyOptions): EgressPolicy {
  const { proxy, isUnverified } = readEgress(egress);
  if (allowedRelayHosts === undefined ? !isUnverified : allowedRelayHosts.length === 0)
    throw invalid("allowedRelayHosts should name the hosts of the relays, such as relay.example.com");
  const hosts = allowedRelayHosts === undefined ? undefined : new Set(allowedRelayHosts.map(hostName));
  const ports = allowedRelayPorts ?? (isUnverified ? undefined : [443]);
  if (ports?.some((port) => !Number.isInteger(port) || port < 1 || port > 65_535))
    throw invalid("allowedRelayPorts should hold port numbers");

  return {
    proxy,
    check(relayBaseUrl) {
      if (!URL.canParse(relayBaseUrl)) throw refused("should be an absolute URL");
      const { protocol, hostname, port, username, password } = new URL(relayBaseUrl);
      // A lone "?" or "#", and an empty user, are gone after parsing. Backslashes and blanks are what parsers disagree on.
      if (/[?#\\\s]/.test(relayBaseUrl)) throw refused("should have no query, fragment, backslash or blank");
      if (username !== "" || password !== "" || /^[^/]*\/\/[^/]*@/.test(relayBaseUrl))
        throw refused("should have no credentials");
      if (protocol !== "https:") {
        if (protocol !== "http:") throw refused("should use https");
        if (!isUnverified)
          throw refused("should use https; http needs egress { unverified: true }, and a loopback host");
        if (!isLoopback(hostname)) throw refused("should use https; http is for loopback hosts only");
      }
      if (hosts !== undefined && !hosts.has(hostname)) throw refused("should have a host of allowedRelayHosts");
      const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
      if (ports !== undefined && !ports.includes(number)) throw refused("should have a port of allowedRelayPorts");
    },
  };
}

function readEgress(egress: unknown): { proxy: string | undefined; isUnverified: boolean } {
  if (typeof egress !== "object" || egress === null) throw invalid(MODES);
  const { proxy, unverified, ...others } = egress as Record<string, unknown>;
  if (Object.keys(others).length > 0) throw invalid(MODES);
  if (unverified === true && proxy === undefined) return { proxy: undefined, isUnverified: true };
  if (typeof proxy !== "string" || unverified !== undefined) throw invalid(MODES);
  if (!URL.canParse(proxy) || !["http:", "https:"].includes(new URL(proxy).protocol))
    throw invalid("egress.proxy should be an http or https URL");
  return { proxy, isUnverified: false };
}

/** A name as URLs have it: lower case, punycode. */
function hostName(name: string): string {
  const url = `https://${name}/`;
  const host = URL.canParse(url) ? new URL(url) : undefined;
  if (host === undefined || host.port !== "" || host.href !== `https://${host.hostname}/` || name.includes("*"))
    throw invalid("allowedRelayHosts should hold bare host names, such as relay.example.com");
  return host.hostname;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function invalid(message: string): HumanPlusError {
  return new HumanPlusError("invalid_argument", message);
}

function refused(rule: string): HumanPlusError {
  return new HumanPlusError("endpoint_refused", `relayBaseUrl ${rule}`);
}
