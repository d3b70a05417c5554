import type { ErrorCode } from "@human-plus/core/protocol";

/** An address of a relay that no agent may be led to, and how it is refused. */
export interface HostileInvitation {
  readonly group: string;
  /** `PORT` stands for that of the listener on the forbidden addresses. */
  readonly relayBaseUrl: string;
  readonly egress: "pinned" | "proxy" | "unverified";
  /** @default relay.example, and the host of the URL, so that it is not the list that refuses it */
  readonly allowedRelayHosts?: readonly string[];
  /** @default 443 and that of the listener */
  readonly allowedRelayPorts?: readonly number[];
  /** What the name resolves to. Without it nothing may be looked up. */
  readonly answer?: readonly string[];
  /** @default "endpoint_refused" */
  readonly code?: ErrorCode;
}

type Details = Omit<HostileInvitation, "group" | "relayBaseUrl" | "egress">;

function group(
  name: string,
  egress: HostileInvitation["egress"],
  urls: readonly string[],
  details: Details = {},
): HostileInvitation[] {
  return urls.map((relayBaseUrl) => ({ group: name, egress, relayBaseUrl, ...details }));
}

const https = (hosts: readonly string[]) => hosts.map((host) => `https://${host}:PORT/relay`);
const listed: Details = { allowedRelayHosts: ["relay.example"] };

const schemes = [
  ...[
    "http://relay.example",
    "HTTP://relay.example",
    "http://127.0.0.1:PORT",
    "http://localhost:PORT",
    "http://[::1]:PORT",
  ],
  ...[
    "ws://relay.example",
    "wss://relay.example",
    "ftp://relay.example",
    "file:///etc/passwd",
    "file://relay.example/x",
  ],
  ...[
    "data:text/plain,x",
    "javascript:alert(1)",
    "blob:https://relay.example/x",
    "about:blank",
    "mailto:a@relay.example",
  ],
  ...["gopher://127.0.0.1:PORT", "unix:/run/relay.sock", "httpss://relay.example", "view-source:https://relay.example"],
  ...["https:relay.example", "https:/relay.example", "https:///relay.example", "https:127.0.0.1:PORT"],
  ...["//relay.example", "/relay", "relay.example", "relay.example:443", "", "https://", "https://:443", "null"],
];

const credentials = [
  ...["https://user@relay.example", "https://user:word@relay.example", "https://:word@relay.example"],
  ...["https://@relay.example", "https://:@relay.example", "https://relay.example@127.0.0.1:PORT"],
  ...["https://relay.example%40127.0.0.1:PORT@127.0.0.1:PORT", "https://a@b@relay.example"],
];

const shapes = [
  ...[
    "https://relay.example/?",
    "https://relay.example/?a=b",
    "https://relay.example?token=x",
    "https://relay.example/relay?x#y",
  ],
  ...["https://relay.example/#", "https://relay.example/#x", "https://relay.example#@127.0.0.1:PORT"],
  ...[
    "https:\\\\relay.example",
    "https://relay.example\\@127.0.0.1:PORT",
    "https://relay.example/a\\b",
    "https://127.0.0.1:PORT\\.relay.example",
  ],
  ...[
    " https://relay.example",
    "https://relay.example ",
    "ht\ntps://relay.example",
    "https://relay.exa\tmple",
    "https://relay.example/a b",
  ],
  ...[
    "https://relay.example/\r\nhost: evil",
    "https://relay\u3000.example",
    "https://relay.example/\u2028",
    "https://relay.example/\u00a0",
  ],
];

const ports = [
  ...[
    "https://relay.example:80",
    "https://relay.example:22",
    "https://relay.example:8443",
    "https://relay.example:6379",
  ],
  ...[
    "https://relay.example:0",
    "https://relay.example:65536",
    "https://relay.example:-1",
    "https://relay.example:443x",
  ],
  "https://relay.example:444443",
];

/** Names that are not `relay.example`, and look, begin or end like it. */
const others = [
  ...[
    "evil.example",
    "relay.example.evil.example",
    "evil.relay.example",
    "relay-example",
    "relayexample",
    "xrelay.example",
  ],
  ...[
    "relay.examp1e",
    "re1ay.example",
    "rel\u0430y.example",
    "relay.\u0435xample",
    "relay\u2024example.evil.example",
    "re\u043bay.example",
  ],
  ...[
    "xn--rely-53d.example",
    "rel\u00e0y.example",
    "relay.example\u0301",
    "\u0280elay.example",
    "relay%2eexample%2eevil.example",
  ],
  ...[
    "relay.example%00.evil.example",
    "relay_example",
    "relay..example",
    "-relay.example",
    "localhost",
    "relay.example.localhost",
  ],
].map((host) => `https://${host}/relay`);

const dots = [
  "relay.example.",
  "relay.example..",
  "RELAY.EXAMPLE.",
  "relay.example%2e",
  "relay.example\u3002",
  "localhost.",
].map((host) => `https://${host}/relay`);

const v4 = https([
  ...[
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "0x7f.0.0.0x1",
  ],
  ...[
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "\uff11\uff12\uff17.0.0.1",
    "\u2460\u2461\u2466.0.0.1",
    "127\u30020\u30020\u30021",
    "0",
    "0.0.0.0",
    "0x0",
  ],
  ...[
    "127.255.255.254",
    "10.0.0.1",
    "0xa000001",
    "012.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "192.168.257",
    "3232235777",
  ],
  ...[
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.254.170.2",
    "168.63.129.16",
  ],
  ...[
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "198.18.0.1",
    "192.88.99.1",
  ],
  ...["224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "4294967295", "037777777777"],
]);

const v6 = https([
  ...[
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[::0001]",
    "[0::1]",
    "[::0.0.0.1]",
    "[::]",
  ],
  ...[
    "[::ffff:127.0.0.1]",
    "[::FFFF:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "[::ffff:169.254.169.254]",
    "[::ffff:8.8.8.8]",
  ],
  ...[
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b::8.8.8.8]",
  ],
  ...["[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:7f00:0001::1]", "[2002:a9fe:a9fe::1]", "[2001:0:7f00:1::1]"],
  ...[
    "[2001:0000:4136:e378:8000:63bf:80ff:fffe]",
    "[2001:20::1]",
    "[2001:10::1]",
    "[2001:2::1]",
    "[2001:db8::1]",
    "[3fff::1]",
  ],
  ...[
    "[100::1]",
    "[fe80::1]",
    "[FE80::0001]",
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]",
    "[::1%25lo]",
    "[fec0::1]",
    "[fc00::1]",
  ],
  ...[
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[ff02::1]",
    "[ff0e::1]",
    "[4000::1]",
    "[3ffe::1]",
    "[::1",
    "::1",
    "[127.0.0.1]",
  ],
]);

/** What the allowed name answers with. */
const answers: readonly (readonly string[])[] = [
  ...[["127.0.0.1"], ["::1"], ["0.0.0.0"], ["::"], ["10.0.0.1"], ["172.16.0.1"], ["192.168.0.1"], ["169.254.169.254"]],
  ...[["100.64.0.1"], ["192.0.2.1"], ["198.18.0.1"], ["224.0.0.1"], ["255.255.255.255"], ["168.63.129.16"]],
  ...[
    ["::ffff:127.0.0.1"],
    ["::ffff:8.8.8.8"],
    ["64:ff9b::7f00:1"],
    ["2002:7f00:1::"],
    ["2001:0:7f00:1::1"],
    ["fe80::1"],
  ],
  ...[["fe80::1%eth0"], ["fd00::1"], ["fec0::1"], ["ff02::1"], ["2001:db8::1"], ["100::1"], ["::7f00:1"]],
  // A mix: one that must not be reached spoils the others, wherever it stands and whichever family it has.
  ...[
    ["8.8.8.8", "127.0.0.1"],
    ["127.0.0.1", "8.8.8.8"],
    ["8.8.8.8", "::1"],
    ["2606:4700::1111", "10.0.0.1"],
  ],
  ...[
    ["8.8.8.8", "8.8.4.4", "1.1.1.1", "169.254.169.254"],
    ["2606:4700::1111", "::ffff:8.8.8.8"],
  ],
  // What no look-up should answer with.
  ...[["localhost"], ["127.1"], ["0x7f000001"], ["8.8.8.8:443"], [""], ["8.8.8.8", "not an address"]],
];

const many = Array.from({ length: 300 }, (_, index) => `8.8.${index >> 8}.${index & 255}`);

export const hostileInvitations: readonly HostileInvitation[] = [
  ...group("scheme", "pinned", schemes),
  ...group("credentials", "pinned", credentials),
  ...group("query, fragment, blank or backslash", "pinned", shapes),
  ...group("port", "pinned", ports, { allowedRelayPorts: [443] }),
  ...group("other name", "pinned", others, listed),
  ...group("dot at the end", "pinned", dots),
  ...group("IPv4", "pinned", v4),
  ...group("IPv6", "pinned", v6),
  ...answers.flatMap((answer) =>
    group(`name for ${answer.join(", ")}`, "pinned", ["https://relay.example:PORT/relay"], { answer }),
  ),
  ...group("name for 300 addresses", "pinned", ["https://relay.example:PORT/relay"], { answer: many }),
  ...group("name for nothing", "pinned", ["https://relay.example:PORT/relay"], {
    answer: [],
    code: "relay_unreachable",
  }),
  ...group("name of this machine", "pinned", ["https://localhost:PORT"], { answer: ["127.0.0.1", "::1"] }),
  ...group("through a proxy", "proxy", [
    ...[
      "http://relay.example",
      "https://user@relay.example",
      "https://relay.example/?x",
      "https://relay.example.:PORT",
    ],
    ...https(["127.0.0.1", "2130706433", "0x7f.1", "10.0.0.1", "169.254.169.254", "100.64.0.1"]),
    ...https([
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[64:ff9b::127.0.0.1]",
      "[2002:7f00:1::]",
      "[fe80::1%25eth0]",
      "[fd00::1]",
    ]),
  ]),
  ...group("through a proxy, other name", "proxy", ["https://evil.example", "https://localhost:PORT"], listed),
  ...group("unverified, http away from this machine", "unverified", [
    ...[
      "http://relay.example",
      "http://10.0.0.1",
      "http://169.254.169.254/latest",
      "http://0.0.0.0:PORT",
      "http://[::]:PORT",
    ],
    ...[
      "http://[::ffff:127.0.0.1]:PORT",
      "http://[::ffff:7f00:1]:PORT",
      "http://127.0.0.1.example:PORT",
      "http://localhost.example:PORT",
    ],
    ...[
      "http://localhost.:PORT",
      "http://user@127.0.0.1:PORT",
      "http://127.0.0.1:PORT/?x",
      "ws://127.0.0.1:PORT",
      "http://8.8.8.8",
    ],
  ]),
  ...group("unverified, localhost elsewhere", "unverified", ["http://localhost:PORT"], { answer: ["8.8.8.8"] }),
];
