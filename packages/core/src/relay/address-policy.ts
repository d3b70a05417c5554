import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** All that IANA has given to global unicast in IPv6. The rest is special, or nobody's: `::/96` with IPv4 inside, for one. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** What ipaddr.js takes for ordinary unicast, and is not. */
const ALSO_REFUSED_V4 = [
  // The host agent of Azure's machines: a public number that is answered from inside. Azure, "What is IP address 168.63.129.16?"
  ipaddr.IPv4.parseCIDR("168.63.129.16/32"),
];
const ALSO_REFUSED_V6 = [
  // The 6bone, which has ended. RFC 3701
  ipaddr.IPv6.parseCIDR("3ffe::/16"),
];

/**
 * Whether an address is one of the public internet: global unicast, and nothing that stands for, carries or leads to
 * another address. IPv4-mapped, NAT64, 6to4 and Teredo addresses are not, whatever they carry, and neither is a text
 * that is no address in its usual spelling, or that has a zone.
 */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  if (address?.range() !== "unicast") return false;
  if (address instanceof ipaddr.IPv4) return !ALSO_REFUSED_V4.some((range) => address.match(range));
  const v6 = address as ipaddr.IPv6;
  return v6.match(GLOBAL_UNICAST_V6) && !ALSO_REFUSED_V6.some((range) => v6.match(range));
}

export function isLoopbackAddress(text: string): boolean {
  return parse(text)?.range() === "loopback";
}

/** The one spelling of an address, to compare it by; `undefined` for what is none. */
export function canonicalAddress(text: string): string | undefined {
  return parse(text)?.toString();
}

/** The address of a URL's host that is one and not a name, without brackets. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith("[") && hostname.endsWith("]") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

// ipaddr.js reads more spellings of IPv4 than a look-up may answer with: octal, hexadecimal, short.
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 || text.includes("%") ? undefined : ipaddr.parse(text);
}
