/** What of a message's headers passes the ingress: everything but what is between two neighbours, or claims to come from us. */

/** Between neighbours (RFC 9110 §7.6.1). */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** What only a proxy in front of the server may say. */
const OF_PROXIES = /^(?:forwarded|x-forwarded-.*|x-real-ip)$/;

export interface RequestHeaderRules {
  /** What the server is called. */
  readonly host: string;
  readonly keepsAuthorization: boolean;
}

/** @returns header names in lower case */
export function requestHeaders(
  headers: Headers,
  { host, keepsAuthorization }: RequestHeaderRules,
): Record<string, string> {
  const dropped = neighbours(headers.get("connection"));
  const passed = [...headers].filter(
    ([name]) => !dropped.has(name) && !OF_PROXIES.test(name) && (keepsAuthorization || name !== "authorization"),
  );
  return { ...Object.fromEntries(passed), host };
}

/** @param raw names and values, alternating, as received */
export function responseHeaders(raw: readonly string[]): Headers {
  const pairs = Array.from({ length: raw.length / 2 }, (_, index): [string, string] => [
    (raw[2 * index] ?? "").toLowerCase(),
    raw[2 * index + 1] ?? "",
  ]);
  const named = pairs.filter(([name]) => name === "connection").map(([, value]) => value);
  const dropped = neighbours(named.join(","));
  const headers = new Headers();
  for (const [name, value] of pairs) if (!dropped.has(name)) headers.append(name, value);
  return headers;
}

//= rfc9110#7.6.1
function neighbours(connection: string | null): ReadonlySet<string> {
  const named = (connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  return new Set([...HOP_BY_HOP, ...named]);
}
