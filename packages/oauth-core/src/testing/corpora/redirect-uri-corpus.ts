/**
 * Redirect URIs that nearly are the registered one (bar ST-2, AS-1), collected from the bypasses of
 * other servers: Keycloak CVE-2023-6291, 2024-1132, 2024-8883, 2026-3872 and 2026-7504,
 * oauth2-proxy, Feathers CVE-2026-27191 and 27192. Written as data against any registered URI, so
 * that unit tests and end-to-end tests fire the same list.
 */

export interface NearMiss {
  /** Unique: the kind of trick and the URI, as JSON. */
  readonly name: string;
  readonly uri: string;
}

/** The registered URI that `REDIRECT_URI_NEAR_MISSES` imitate. */
export const REGISTERED_REDIRECT_URI = "https://client.example.com/oauth/callback";

/** The corpus for one registered http(s) URI with a path and without query and fragment. */
export function redirectUriNearMisses(registered: string): NearMiss[] {
  const misses = new Map<string, string>();
  for (const [trick, uris] of Object.entries(tricks(registered))) {
    for (const uri of uris) if (uri !== registered && !misses.has(uri)) misses.set(uri, trick);
  }
  return Array.from(misses, ([uri, trick]) => ({ name: `${trick} ${JSON.stringify(uri)}`, uri }));
}

/**
 * The registered URIs that `LOOPBACK_NEAR_MISSES` imitate: native clients register them, and their
 * port is free.
 */
export const LOOPBACK_REDIRECT_URIS = [
  "http://127.0.0.1/callback",
  "http://[::1]/callback",
  "http://localhost/callback",
] as const;

/**
 * URIs that are not the registered loopback URI on another port. Each has a port, as native clients
 * send it.
 */
function loopbackTricks(registered: string): Record<string, readonly string[]> {
  const { hostname: h, pathname: p } = new URL(registered);
  const at = (host: string): string => `http://${host}:49152${p}`;
  const others = ["127.0.0.1", "[::1]", "localhost"].filter((host) => host !== h);
  // One kind of trick a line.
  // oxfmt-ignore
  return {
    "another loopback host": others.map(at),
    "another spelling": ["127.0.0.2", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "0.0.0.0", "0", "127.0.0.1.", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::1%25lo]", "localhost.", "LOCALHOST", "Localhost", "l\u043ecalhost", "%6cocalhost", "localhost.localdomain", "ip6-localhost"].map(at),
    "a name of others": [`${h}.evil.example`, `${h}.nip.io`, `evil.example.${h}`, `sub.${h}`, `x${h}`, `${h}x`, "local", "localhos"].map(at),
    "user information": [at(`${h}@evil.example`), at(`evil.example@${h}`), at(`user:pw@${h}`), at(`@${h}`), `http://${h}:49152@evil.example${p}`, `http://evil.example#@${h}:49152${p}`],
    "port": [":", ":0", ":00", ":080", ":65536", ":99999", ":808080", ":+80", ":-1", ": 80", ":8o", ":80:80", ":%38%30", ":\u0668"].map((port) => `http://${h}${port}${p}`),
    "scheme": [`https://${h}:49152${p}`, `HTTP://${h}:49152${p}`, `ws://${h}:49152${p}`, `app://${h}:49152${p}`, `//${h}:49152${p}`, `http:/${h}:49152${p}`, `http:${h}:49152${p}`],
    "path": ["/", "/x", "//", "/..", "/%2e", ";x", "x", "%00", "%20"].map((tail) => at(h) + tail),
    "before the path": [`http://${h}:49152`, `http://${h}:49152/`, `http://${h}:49152/x/..${p}`, `http://${h}:49152/${p}`, `http://${h}:49152\\${p.slice(1)}`, `http://${h}:49152${p.toUpperCase()}`],
    "query and fragment": ["?", "?x=1", "?code=stolen", "#", "#x", "%3Fx", "%23"].map((tail) => at(h) + tail),
    "white space": [` ${at(h)}`, `${at(h)} `, `${at(h)}\n`, `http://${h}:49152\n${p}`, `http://${h}\t:49152${p}`, `http://${h}:\t49152${p}`],
  };
}

export const LOOPBACK_NEAR_MISSES: readonly (NearMiss & { readonly registered: string })[] =
  LOOPBACK_REDIRECT_URIS.flatMap((registered) =>
    Object.entries(loopbackTricks(registered)).flatMap(([trick, uris]) =>
      [...new Set(uris)].map((uri) => ({ name: `${trick} ${JSON.stringify(uri)}`, uri, registered })),
    ),
  );

/* oxlint-disable no-script-url -- refusing them is the point */
function tricks(r: string): Record<string, readonly string[]> {
  const { protocol, host: h, hostname: n, port, pathname: p, origin: o } = new URL(r);
  const s = protocol.slice(0, -1);
  const at = (host: string): string => `${s}://${host}${p}`;
  const colon = port === "" ? "" : `:${port}`;
  const parent = p.slice(0, p.lastIndexOf("/"));
  const middle = Math.ceil(n.length / 2);
  const inHost = (text: string): string => at(n.slice(0, middle) + text + n.slice(middle) + colon);
  const letter = (from: string, to: string): string => at(n.replace(from, to) + colon);
  // One kind of trick a line.
  // oxfmt-ignore
  return {
    "host suffix": [at(`${h}.evil.example`), at(`${n}.evil.example${colon}`), at(`${n}evil.example`), at(`${n}-evil.example`), at(`${n}_evil.example`), at(`${n},evil.example`), at(`${n};evil.example`), at(`${n}!evil.example`), at(`${n}&evil.example`), at(`${n}$evil.example`), at(`${n}x`), at(n.slice(0, -1)), at(`${n}.com`)],
    "host prefix": [at(`evil.${h}`), at(`evil-${h}`), at(`evil${h}`), at(`www.${h}`), at(`.${h}`), at(`-${h}`), at(`_.${h}`), at(n.slice(1)), at(n.slice(n.indexOf(".") + 1)), at(`evil.example.${h}`)],
    "host dots": [at(`${n}.${colon}`), at(`${n}..${colon}`), at(n.replace(".", "..")), at(n.replace(".", "")), at(n.replace(".", "-")), at(n.replace(".", "X")), at(n.replaceAll(".", ","))],
    "encoded in the host": [at(`${n}%2eevil.example`), at(`${n}%00.evil.example`), at(`${n}%0d%0a.evil.example`), at(`${n}%20`), at(`${n}%09`), at(`${n}%2fevil.example`), at(`${n}%5cevil.example`), at(`${n}%23evil.example`), at(`${n}%3fevil.example`), at(`${n}%40evil.example`), at(n.replace(".", "%2e")), at(n.replace(".", "%252e")), at(`%${n.charCodeAt(0).toString(16)}${n.slice(1)}`), at(n.replace(".", "%E3%80%82"))],
    "user information": [at(`${h}@evil.example`), at(`${h}:443@evil.example`), at(`${h}:pw@evil.example`), at(`${h}%40@evil.example`), at(`evil.example@${h}`), at(`user:pw@${h}`), at(`user@${h}`), at(`@${h}`), at(`:@${h}`), at(`@@${h}`), at(`${h}\\@evil.example`), at(`evil.example\\@${h}`), at(`evil.example/@${h}`), at(`evil.example#@${h}`), at(`evil.example?@${h}`), at(`evil.example%23@${h}`), at(`evil.example%2f@${h}`), at(`evil.example%5c@${h}`), at(`evil.example:80#@${h}`), at(`${h}#@evil.example`), at(`${h}?@evil.example`), at(`${h}&@evil.example`), at(`${h};@evil.example`), at(`${h}[@evil.example`), at(`${h}\uff20evil.example`), at(`evil.example\t@${h}`)],
    "slashes": [`//evil.example${p}`, `///evil.example${p}`, `//${h}${p}`, `////${h}${p}`, `${s}:${h}${p}`, `${s}:/${h}${p}`, `${s}:///${h}${p}`, `${s}:////${h}${p}`, `${o}/${p}`, `${o}/${p.slice(1)}/`, `${r}/`, `${r}//`, `${o}//evil.example${p}`, `${o}${p.replaceAll("/", "//")}`, `${r}//evil.example`, `${o}${p.slice(1)}`, `/${p}`, `${r}/https://evil.example/`],
    "backslashes": [`/\\evil.example${p}`, `\\\\evil.example${p}`, `\\/evil.example${p}`, `${s}:\\\\${h}${p}`, `${s}:/\\${h}${p}`, `${s}:\\/${h}${p}`, `${o}\\${p.slice(1)}`, `${o}${p.replaceAll("/", "\\")}`, `${r}\\`, `${o}\\evil.example`, `${o}\\.evil.example${p}`, `${o}/\\evil.example${p}`, `${o}/%5cevil.example${p}`, `${o}%5c${p.slice(1)}`, `${r}\\..\\evil`, `${r}%5c..%5cevil`],
    "traversal": ["/..", "/../", "/../evil", "/../../evil", "/.", "/./", "/%2e%2e/evil", "/%2E%2E/evil", "/.%2e/evil", "/%2e./evil", "/%2e%2e%2fevil", "/..%2fevil", "/%252e%252e/evil", "/%252e%252e%252fevil", "/..%252fevil", "/%25252e%25252e/evil", "/..;/evil", "/..;x=1/evil", "/..%5cevil", "/..%00/evil", "/..%09/evil", "/..%0d/evil", "/..%ff/evil", "/..%c0%afevil", "/%c0%ae%c0%ae/evil", "/%e0%80%af../evil", "/....//evil", "/..../evil", "/..%u2215evil", "/.\u200b./evil"].map((tail) => r + tail),
    "traversal to the same place": [`${o}/..${p}`, `${o}/.${p}`, `${o}/x/..${p}`, `${o}/%2e${p}`, `${o}/%2e%2e${p}`, `${o}/x/%2e%2e${p}`, `${o}${parent}/.${p.slice(parent.length)}`, `${o}${parent}/x/..${p.slice(parent.length)}`, `${r}/x/..`, `${r}/.`, `${o}/evil/..;${p}`, `${o}/evil/..%2f${p.slice(1)}`],
    "encoded in the path": [`${o}${p.replace(/[a-z]/, (c) => `%${c.charCodeAt(0).toString(16)}`)}`, `${o}${p.replace(/[a-z]/, (c) => `%25${c.charCodeAt(0).toString(16)}`)}`, `${o}/${p.slice(1).replace("/", "%2f")}`, `${o}/${p.slice(1).replace("/", "%2F")}`, `${o}/${p.slice(1).replace("/", "%252F")}`, `${o}%2f${p.slice(1)}`, `${o}${p.replace("/", "/%2f")}`, encodeURIComponent(r), encodeURIComponent(encodeURIComponent(r)), encodeURI(`${r}%`), `${r}%`, `${r}%2`, `${r}%zz`, `${r}%00`, `${r}%0a`, `${r}%0d%0aLocation:%20https://evil.example`, `${r}%09`, `${r}%20`, `${r}%2f`, `${r}%2e`, `${r}%u002f`, `${r}%ff`, r.replaceAll("/", "&#47;"), r.replaceAll("/", "&sol;")],
    "query": ["?", "??", "?x=1", "?code=stolen", "?state=x", `?redirect_uri=https://evil.example`, "?next=//evil.example", "?%0d%0aSet-Cookie:x", "&x=1", ";x=1", "%3Fx=1", "?x=%23", "?iss=https://evil.example", "?=", "?&"].map((tail) => r + tail),
    "fragment": ["#", "##", "#x", "#@evil.example", "#/../evil", "%23", "%23x", "#?x=1", "?#", "#access_token=x", "#\\", "#:~:text=x"].map((tail) => r + tail),
    "path suffix": ["evil", "/evil", ".evil.example", ".", "..", ".html", ".php", ";jsessionid=1", ":", ":evil", "@evil.example", ",", "*", "~", "'", "\"", "`", "|", "^", "{x}", "(1)", "$", "!", "+", "=", "1", "-", "_", "s"].map((tail) => r + tail),
    "path prefix": [o, `${o}/`, `${o}/*`, `${o}/**`, `${o}${parent}`, `${o}${parent}/`, `${o}${parent}/*`, r.slice(0, -1), `${o}${p}${p}`, `${o}/evil${p}`, `${o}${parent}/evil`, `${o}/evil`],
    "scheme": [`${s === "https" ? "http" : "https"}://${h}${p}`, `httpss://${h}${p}`, `ttps://${h}${p}`, `xhttps://${h}${p}`, `ftp://${h}${p}`, `ws://${h}${p}`, `wss://${h}${p}`, `file://${h}${p}`, `file:///etc/passwd`, `javascript:alert(1)`, `javascript://${h}${p}%0aalert(1)`, `JaVaScRiPt:alert(1)//${r}`, `java\nscript:alert(1)`, `data:text/html,<script>alert(1)</script>`, `data:text/html;base64,${h}`, `vbscript:x`, `blob:${r}`, `view-source:${r}`, `filesystem:${r}`, `intent://${h}${p}#Intent;end`, `about:blank`, `mailto:x@${h}`, `com.example.app:/callback`, `com.example.app:${p}`, `myapp://${h}${p}`, `urn:ietf:wg:oauth:2.0:oob`, `://${h}${p}`, `:${r}`, `${h}${p}`, p, s, `${s}:`, `${s}://`, `${s}://${p}`],
    "port": [":443", ":80", ":8443", ":", ":0", ":0443", ":444", ":65536", ":99999999", ":443:443", ":%34%34%33", ":+443", ":-1", ": 443", ":4 43", ":\u0664\u0664\u0663", ":evil.example", ":443@evil.example", ":443evil", ":1"].map((tail) => at(n + tail)),
    "case": [at(h.toUpperCase()), at(h.charAt(0).toUpperCase() + h.slice(1)), `${s.toUpperCase()}://${h}${p}`, `${s.charAt(0).toUpperCase()}${s.slice(1)}://${h}${p}`, `${o}${p.toUpperCase()}`, `${o}/${p.charAt(1).toUpperCase()}${p.slice(2)}`, r.toUpperCase()],
    "white space before": [" ", "\t", "\n", "\r\n", "\0", "\v", "\u00a0", "\u2028", "\u3000", "\ufeff", "%20", "%09"].map((text) => text + r),
    "white space after": [" ", "\t", "\n", "\r\n", "\0", "\v", "\f", "\u007f", "\u00a0", "\u2028", "\u3000", "\ufeff", "\r\nLocation: https://evil.example", "\u202e"].map((text) => r + text),
    "white space within": [`${s.slice(0, 2)}\t${s.slice(2)}://${h}${p}`, `${s.slice(0, 2)}\n${s.slice(2)}://${h}${p}`, `${s}:\t//${h}${p}`, `${s}:/\t/${h}${p}`, `${s}://\t${h}${p}`, inHost("\t"), inHost("\n"), inHost(" "), inHost("\0"), `${o}\t${p}`, `${o}\n${p}`, `${o} ${p}`, `${o}${p.replace("/", "/\t")}`, `${o}${p.replace("/", "/\0")}`],
    "invisible within": [inHost("\u00ad"), inHost("\u200b"), inHost("\u200d"), inHost("\u2060"), inHost("\ufe0f"), inHost("\u202e"), `${o}${p.slice(0, 3)}\u200b${p.slice(3)}`],
    "look-alike": [letter("e", "\u0435"), letter("c", "\u0441"), letter("a", "\u0430"), letter("o", "\u043e"), letter("l", "1"), letter("l", "\u0131"), letter("i", "\u0456"), letter("e", "\u00e9"), letter("e", "e\u0301"), letter("e", "\uff45"), letter("e", "\u24d4"), letter("m", "rn"), letter("x", "\u00d7"), letter("c", "\u217d"), at(n.replace(".", "\u3002")), at(n.replace(".", "\uff0e")), at(n.replace(".", "\uff61")), at(n.replace(".", "\u2024")), at(`xn--${n}`), at(`xn--clint-cva.${n}`), `${s}\uff1a//${h}${p}`, `${s}:\uff0f\uff0f${h}${p}`, `${o}\uff0f${p.slice(1)}`, `${o}\u2215${p.slice(1)}`, `${o}\u2044${p.slice(1)}`, at(`${n}\u2100.evil.example`), at(`${n}\uff03.evil.example`)],
    "addresses": ["127.0.0.1", "[::1]", "localhost", "localhost.", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "[::]", "[::ffff:127.0.0.1]", "169.254.169.254", "[fe80::1%25lo]"].map(at),
    "wildcards": ["*", "**", `${s}://*`, `${s}://*${p}`, at("*.example.com"), at("*"), at(`*.${n}`), at("%2a.example.com"), `${o}/.*`, ".*", "/.*/", `${s}://.*`],
    "lists": [`${r} ${r}`, `${r},https://evil.example`, `${r} https://evil.example`, `https://evil.example ${r}`, `${r}\nhttps://evil.example`, `${r};https://evil.example`, `${r}|https://evil.example`, `["${r}"]`, `[${r}]`, `"${r}"`, `'${r}'`, `<${r}>`, `${r}&redirect_uri=https://evil.example`, `redirect_uri=${r}`],
    "something else": ["", "null", "undefined", "true", "0", "/", ".", "?", "#", "[object Object]", "https://evil.example/", `https://evil.example/?${r}`, `https://evil.example/#${r}`, `https://evil.example/${r}`, at("evil.example"), `${r}${"a".repeat(65_536)}`],
  };
}

export const REDIRECT_URI_NEAR_MISSES: readonly NearMiss[] = redirectUriNearMisses(REGISTERED_REDIRECT_URI);
