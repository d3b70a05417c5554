import { expect, test } from "vitest";
import { canonicalAddress, isLoopbackAddress, isPublicAddress, literalAddress } from "./address-policy.ts";

// Both ends of each range, where a range has two.
const refused: Readonly<Record<string, readonly string[]>> = {
  "this network": ["0.0.0.0", "0.255.255.255"],
  private: ["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
  "carrier-grade NAT": ["100.64.0.0", "100.127.255.255"],
  "loopback, version 4": ["127.0.0.0", "127.0.0.1", "127.255.255.255"],
  "link-local, version 4": ["169.254.0.0", "169.254.255.255"],
  "IETF protocol assignments, version 4": ["192.0.0.0", "192.0.0.255"],
  "documentation, version 4": [
    "192.0.2.0",
    "192.0.2.255",
    "198.51.100.0",
    "198.51.100.255",
    "203.0.113.0",
    "203.0.113.255",
  ],
  "6to4 relays": ["192.88.99.0", "192.88.99.255"],
  "AS112 and AMT, version 4": ["192.31.196.1", "192.175.48.1", "192.52.193.1"],
  "benchmarking, version 4": ["198.18.0.0", "198.19.255.255"],
  "multicast, version 4": ["224.0.0.0", "239.255.255.255"],
  "reserved, version 4": ["240.0.0.0", "255.255.255.254"],
  broadcast: ["255.255.255.255"],
  "metadata of clouds": [
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd20:ce::254",
  ],
  "unspecified and loopback, version 6": ["::", "::1"],
  "IPv4-compatible": ["::8.8.8.8", "::127.0.0.1", "::ffff"],
  "IPv4-mapped": ["::ffff:8.8.8.8", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:ffff:ffff"],
  "IPv4-translated": ["::ffff:0:8.8.8.8", "::ffff:0:127.0.0.1"],
  NAT64: [
    "64:ff9b::8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::ffff:ffff",
    "64:ff9b:1::",
    "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
  ],
  discard: ["100::", "100::ffff:ffff:ffff:ffff"],
  Teredo: ["2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  "IETF protocol assignments, version 6": ["2001:1::1", "2001:1ff:ffff::", "2001:4:112::1", "2001:3::1"],
  "benchmarking, version 6": ["2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"],
  ORCHID: ["2001:10::", "2001:1f:ffff::", "2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:30::"],
  "documentation, version 6": ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff::1"],
  "6to4": ["2002::", "2002:7f00:1::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  "AS112, version 6": ["2620:4f:8000::1"],
  "6bone": ["3ffe::", "3ffe:ffff::1"],
  "segment routing": ["5f00::1"],
  "unique local": ["fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  "link-local, version 6": ["fe80::", "febf:ffff::1"],
  "site-local": ["fec0::", "feff:ffff::1"],
  "multicast, version 6": ["ff00::", "ff02::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  "not assigned": ["1fff::1", "4000::1", "8000::1", "c000::1", "e000::1", "f000::1", "200::1", "400::1"],
  "a zone": ["fe80::1%eth0", "2606:4700::1111%1", "::1%lo"],
  "no address in its usual spelling": [
    "",
    "8.8.8",
    "8.8",
    "134744072",
    "0x8.8.8.8",
    "010.8.8.8",
    "08.8.8.8",
    "8.8.8.8.",
    " 8.8.8.8",
    "8.8.8.8:443",
    "[2606:4700::1111]",
    "::g",
    "relay.example",
  ],
};

test.each(Object.entries(refused))("%s is not public", (_, addresses) => {
  expect(addresses.filter(isPublicAddress)).toEqual([]);
});

test("the addresses beside those ranges are public", () => {
  const addresses = [
    ["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"],
    ["169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0"],
    [
      "192.167.255.255",
      "192.169.0.0",
      "198.17.255.255",
      "198.20.0.0",
      "198.51.101.0",
      "203.0.114.0",
      "223.255.255.255",
    ],
    ["168.63.129.15", "168.63.129.17", "8.8.8.8", "2000::1", "2001:200::1", "2001:db7:ffff::1", "2001:db9::1"],
    ["2003::1", "2606:4700::1111", "2A00:1450::8.8.8.8", "2620:4f:8001::1", "3ffd::1", "3fff:1000::1"],
  ].flat();
  expect(addresses.filter((address) => !isPublicAddress(address))).toEqual([]);
});

test("loopback is 127.0.0.0/8 and ::1", () => {
  expect(["127.0.0.1", "127.9.9.9", "::1", "0:0::1"].every(isLoopbackAddress)).toBe(true);
  expect(
    ["126.0.0.1", "::ffff:127.0.0.1", "0.0.0.0", "::", "127.1", "localhost", "::1%lo"].some(isLoopbackAddress),
  ).toBe(false);
});

test("spellings of one address are one", () => {
  expect(canonicalAddress("2606:4700:0:0::0.0.17.17")).toBe(canonicalAddress("2606:4700::1111"));
  expect(canonicalAddress("8.8.8.8")).toBe("8.8.8.8");
  expect(canonicalAddress("relay.example")).toBeUndefined();
});

test("hosts of URLs are told from names", () => {
  expect(["[::1]", "8.8.8.8", "relay.example", "[x]", "8.8.8.8.example"].map(literalAddress)).toEqual([
    "::1",
    "8.8.8.8",
    undefined,
    undefined,
    undefined,
  ]);
});
