/**
 * URLs that no outbound call may reach when neither loopback nor private networks are allowed.
 * Every input that takes a URL from outside is tested with all of them. Names are under `.example`
 * and must be resolved from `resolvesTo`, never for real.
 */
import { words } from "./words.ts";

export interface EgressCorpusEntry {
  readonly label: string;
  readonly url: string;
  /**
   * The defence this entry is about.
   * - `syntax`: scheme, port, user name, fragment, spelling
   * - `address`: the host is a literal address in any spelling
   * - `name`: the name itself means an internal host
   * - `answer`: a public-looking name that resolves to `resolvesTo`
   */
  readonly stoppedBy: "syntax" | "address" | "name" | "answer";
  readonly resolvesTo?: readonly string[];
}

type Stop = EgressCorpusEntry["stoppedBy"];

const entries = (label: string, stoppedBy: Stop, urls: readonly string[]): EgressCorpusEntry[] =>
  urls.map((url) => ({ label: `${label}: ${url}`, url, stoppedBy }));
const hosts = (label: string, stoppedBy: Stop, text: string): EgressCorpusEntry[] =>
  entries(
    label,
    stoppedBy,
    words(text).map((host) => `https://${host}/token`),
  );

/** First, last and notable addresses of every special range (RFC 6890). */
const PRIVATE_V4 = words(`
  0.0.0.0 0.0.0.1 0.1.2.3 0.255.255.255 10.0.0.0 10.0.0.1 10.10.10.10 10.96.0.1 10.255.255.255 100.64.0.0 100.64.0.1
  100.100.100.200 100.127.255.255 127.0.0.0 127.0.0.1 127.0.0.2 127.0.1.1 127.1.1.1 127.255.255.255 169.254.0.0 169.254.0.1
  169.254.169.123 169.254.169.253 169.254.169.254 169.254.170.2 169.254.170.23 169.254.255.255 172.16.0.0 172.16.0.1
  172.17.0.1 172.18.0.1 172.20.10.1 172.31.0.1 172.31.255.255 192.0.0.0 192.0.0.1 192.0.0.8 192.0.0.170 192.0.0.192 192.0.0.255
  192.0.2.0 192.0.2.1 192.0.2.255 192.88.99.0 192.88.99.1 192.88.99.255 192.168.0.0 192.168.0.1 192.168.1.1 192.168.49.2
  192.168.99.100 192.168.255.255 198.18.0.0 198.18.0.1 198.19.255.255 198.51.100.0 198.51.100.1 198.51.100.255 203.0.113.0
  203.0.113.1 203.0.113.255 224.0.0.0 224.0.0.1 224.0.0.251 232.1.1.1 239.255.255.250 239.255.255.255 240.0.0.0 240.0.0.1
  250.1.2.3 255.255.255.254 255.255.255.255`);

/** Spellings the URL parser turns into 127.0.0.1, 169.254.169.254, 10.0.0.1 and the like. */
const DISGUISED_V4 = `
  2130706433 2130706434 017700000001 0x7f000001 0x7F000001 0X7f000001 0x7f.1 0x7f.0.0.1 0x7f.0x0.0x0.0x1 0177.1 0177.0.0.1
  0177.0.0.01 00000177.0.0.1 0177.0x0.0.1 127.1 127.0.1 127.000.000.001 127.0.0.0x1 127.0.0.01 127.65530 0 0.0 0x0 00 0.0.0
  2852039166 0xa9fea9fe 0xA9.0xFE.0xA9.0xFE 0251.0376.0251.0376 025177524776 169.254.43518 169.16689662 0xa9.254.169.254
  167772161 0xa.1 0x0a000001 012.1 10.1 10.0.1 012.0.0.1 192.168.257 192.11010305 0xc0a80101 3232235777 030052000401 172.1048577
  2886729729 0xac100001 4294967295 0xffffffff 255.255.65535 １２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1 127．0．0．1
  127｡0｡0｡1 １６９.２５４.１６９.２５４ %31%32%37.0.0.1 127%2e0%2e0%2e1 1%327.0.0.1 127.0.0.1. 10.0.0.1. 169.254.169.254. 0x7f.1.`;

/**
 * Loopback, link-local, unique-local, multicast, documentation, and every form that hides an IPv4
 * address.
 */
const PRIVATE_V6 = words(`
  :: ::1 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001 ::2 ::0.0.0.1 ::127.0.0.1 ::10.0.0.1 ::a9fe:a9fe
  ::ffff:127.0.0.1 ::ffff:7f00:1 ::FFFF:127.0.0.1 0:0:0:0:0:ffff:127.0.0.1 0:0:0:0:0:ffff:7f00:1 ::ffff:0.0.0.0 ::ffff:10.0.0.1
  ::ffff:a00:1 ::ffff:100.64.0.1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:172.16.0.1 ::ffff:192.168.1.1 ::ffff:c0a8:101
  ::ffff:224.0.0.1 ::ffff:255.255.255.255 ::ffff:0:127.0.0.1 ::ffff:0:7f00:1 64:ff9b::127.0.0.1 64:ff9b::7f00:1
  64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b::a9fe:a9fe 64:ff9b::192.168.0.1 64:ff9b:1::127.0.0.1 64:ff9b:1::a00:1
  64:ff9b:1:ffff::169.254.169.254 100::1 100::ffff 2001::1 2001:0:7f00:1::1 2001:0:53aa:64c:0:0:80ff:fffe 2001:0:a9fe:a9fe::
  2001:2::1 2001:10::1 2001:1f::1 2001:20::1 2001:db8::1 2001:db8:ffff::1 2001:1ff:ffff::1 2002:7f00:1:: 2002:7f00:1::1
  2002:a00:1::1 2002:a9fe:a9fe:: 2002:a9fe:a9fe::1 2002:c0a8:101::1 2002:ac10:1::1 2620:4f:8000::1 3fff::1 3fff:fff::1 4000::1
  5f00::1 8000::1 fc00:: fc00::1 fd00::1 fd00:ec2::254 fd00:ec2::23 fd12:3456:789a::1 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fe80:: fe80::1 fe80::a9fe:a9fe fe80::5efe:7f00:1 febf::1 fec0::1 feff::1 ff00::1 ff01::1 ff02::1 ff02::2 ff02::fb ff05::2
  ff0e::1 2606:4700::5efe:7f00:1 2606:4700::200:5efe:a9fe:a9fe 2606:4700:1:2:0:5efe:10.0.0.1 2606:4700:1:2:0:5efe:: ffff::1`);

const PRIVATE_NAMES = `
  localhost LOCALHOST localhost. sub.localhost a.b.localhost foo.localhost. localhost.localdomain host.localdomain ip6-localhost
  metadata metadata.google.internal metadata.google.internal. METADATA.GOOGLE.INTERNAL instance-data
  instance-data.ec2.internal ip-10-0-0-1.eu-west-1.compute.internal kubernetes kubernetes.default kubernetes.default.svc.cluster.local
  host.docker.internal gateway.docker.internal host.containers.internal redis postgres db broker printer.local raspberrypi.local.
  router.lan nas.home intranet wiki.intranet ad.corp dc01.ad.corp router.home.arpa example.com. vault.service.internal`;

const OTHER_SCHEMES = words(`
  http://vendor.example/token http://8.8.8.8/ ftp://vendor.example/ file:///etc/passwd file://localhost/etc/passwd gopher://127.0.0.1:6379/_INFO
  dict://127.0.0.1:11211/stats ldap://10.0.0.1/ tftp://10.0.0.1/x ssh://vendor.example/ ws://vendor.example/ wss://vendor.example/
  javascript:alert(1) data:text/plain,x blob:https://vendor.example/1 about:blank mailto:a@vendor.example jar:https://vendor.example!/
  unix:/var/run/docker.sock http+unix://%2Fvar%2Frun%2Fdocker.sock/ view-source:https://vendor.example/ //vendor.example/ /token token`);

const PORTS = words(
  "0 1 21 22 25 53 80 110 389 444 445 2375 3000 3306 5432 6379 8000 8080 8443 9200 10250 11211 27017 65535 65536 99999 -1 443x",
);

const AUTHORITIES = words(`
  user@vendor.example user:pass@vendor.example @vendor.example :@vendor.example vendor.example@127.0.0.1 vendor.example:443@10.0.0.1
  vendor.example%40127.0.0.1 127.0.0.1%23.vendor.example 127.0.0.1%2f.vendor.example vendor%2eexample vendor。example vendor.example:
  vendor.example\\@127.0.0.1 vendor.example\\.evil.example [vendor.example] [::1 ::1 [::1%25eth0] [fe80::1%25lo] [::1].vendor.example
  [::ffff:127.0.0.1 [v1.fe80::a] 127.0.0.1:443.vendor.example 256.256.256.256 1.2.3.4.5 0x7f.0.0.1.1 08.8.8.8 1e3.1`);

const SPELLINGS = [
  "https:\\\\127.0.0.1\\",
  "https:/127.0.0.1/",
  "https:127.0.0.1",
  "https:///127.0.0.1/",
  "https:////vendor.example/",
  "https://",
  "https://?x",
  "https://#x",
  "https://vendor.example/token#",
  "https://vendor.example/token#fragment",
  " https://vendor.example/",
  "https://vendor.example/ ",
  "https://vendor.example/a b",
  "https://ven\tdor.example/",
  "ht\ntps://vendor.example/",
  "https://vendor.example/\r\nX-Injected: 1",
  "https://vendor.example/\u0000",
  "https://vendor.example\u0000.evil.example/",
  "https://vendor.example/\u007f",
  "https://vendor.example/caf\u00e9",
  "https://vendor.ex\u00adample/",
  "https://vendor.example\u3002evil.example/",
  "https://ven\u200bdor.example/",
  "https://vendor.example/<script>",
  'https://vendor.example/"x',
  "https://vendor.example/\\..\\x",
  `https://${"a.".repeat(130)}example/`,
  `https://${"a".repeat(254)}.example/`,
  `https://vendor.example/${"a".repeat(2048)}`,
  "",
];

/**
 * A name of the attacker, and the answers of its DNS servers. Mixed answers try to pass one address
 * behind a check of the first.
 */
const ANSWERS: readonly (readonly string[])[] = [
  ...words(`127.0.0.1 127.0.0.53 0.0.0.0 10.0.0.1 10.96.0.1 100.64.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255
    192.0.0.192 192.168.0.1 198.18.0.1 224.0.0.1 255.255.255.255 ::1 :: ::ffff:127.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1
    2002:7f00:1::1 2001:0:7f00:1::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 ff02::1`).map((address) => [address]),
  ["8.8.8.8", "127.0.0.1"],
  ["127.0.0.1", "8.8.8.8"],
  ["8.8.8.8", "1.1.1.1", "169.254.169.254"],
  ["2606:4700::1111", "10.0.0.1"],
  ["8.8.8.8", "::1"],
  ["8.8.8.8", "fd00:ec2::254"],
  ["2606:4700::1111", "::ffff:10.0.0.1"],
  ["8.8.8.8", "64:ff9b::a9fe:a9fe"],
  [],
];

export const EGRESS_CORPUS: readonly EgressCorpusEntry[] = [
  ...hosts("private IPv4", "address", PRIVATE_V4.join(" ")),
  ...hosts("disguised IPv4", "address", DISGUISED_V4),
  ...hosts("special IPv6", "address", PRIVATE_V6.map((address) => `[${address}]`).join(" ")),
  ...hosts("private name", "name", PRIVATE_NAMES),
  ...entries("scheme", "syntax", OTHER_SCHEMES),
  ...entries(
    "port",
    "syntax",
    PORTS.map((port) => `https://vendor.example:${port}/token`),
  ),
  ...entries(
    "authority",
    "syntax",
    AUTHORITIES.map((authority) => `https://${authority}/token`),
  ),
  ...entries("spelling", "syntax", SPELLINGS).map((entry, index) => ({ ...entry, label: `spelling ${index + 1}` })),
  ...ANSWERS.map((resolvesTo, index) => ({
    label: `answer: ${resolvesTo.join(" and ") || "nothing"}`,
    url: `https://rebind-${index + 1}.attacker.example/token`,
    stoppedBy: "answer" as const,
    resolvesTo,
  })),
];
