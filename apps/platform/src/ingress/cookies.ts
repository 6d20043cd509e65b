/**
 * Cookies of a deployed server. Browsers do not separate cookies by port, so servers on one host
 * share a cookie jar. On the way out each name is prefixed with the connector. On the way in only
 * cookies with this prefix pass, without it. A server therefore receives only the cookies it set
 * itself and cannot set those of the platform or of another server. Called by forwarded-headers.ts.
 * docs/decisions/0026.
 */

/**
 * Prefixes by which browsers enforce how a cookie was set, in any case; the longest first. They
 * stay in front.
 */
const PREFIX = /^(?:__Host-Http-|__Host-|__Http-|__Secure-)/i;
/** A character that no connector id contains, so that no prefix is the beginning of another. */
const MARK = ".";
/** The length of name and value together. Browsers accept no longer cookies. */
const LONGEST_BYTES = 4096;
const DOMAIN = /^\s*domain\s*(?:=|$)/i;

/**
 * @param setCookie one header of the server, one character per byte
 * @returns the header for the browser, for exactly this host; undefined for a cookie that browsers
 *   would store without a name or reject
 */
export function outgoingCookie(setCookie: string, connectorId: string): string | undefined {
  const [pair = "", ...attributes] = setCookie.split(";");
  const { name, value } = readPair(pair);
  if (name === "") return undefined;
  const renamed = `${marked(name, connectorId)}=${value}`;
  if (renamed.length - 1 > LONGEST_BYTES) return undefined;
  return [renamed, ...attributes.filter((attribute) => !DOMAIN.test(attribute))].join(";");
}

/** @returns the Cookie header for the server; undefined when none of the cookies is its own */
export function incomingCookies(header: string, connectorId: string): string | undefined {
  const own = header.split(";").flatMap((pair) => {
    const { name: received, value } = readPair(pair);
    const name = unmarked(received, connectorId);
    return name === undefined ? [] : [`${name}=${value}`];
  });
  return own.length === 0 ? undefined : own.join("; ");
}

/** The name is empty without a `=`: browsers then treat the text as a value. */
function readPair(pair: string): { readonly name: string; readonly value: string } {
  const at = pair.indexOf("=");
  return { name: pair.slice(0, Math.max(at, 0)).trim(), value: pair.slice(at + 1).trim() };
}

function marked(name: string, connectorId: string): string {
  const [prefix = ""] = PREFIX.exec(name) ?? [];
  return `${prefix}${connectorId}${MARK}${name.slice(prefix.length)}`;
}

/**
 * @returns undefined when no Set-Cookie of the server can have produced this cookie, for example
 *   `connector.__Host-name`
 */
function unmarked(received: string, connectorId: string): string | undefined {
  const [prefix = ""] = PREFIX.exec(received) ?? [];
  const name = prefix + received.slice(prefix.length + connectorId.length + MARK.length);
  return name !== "" && marked(name, connectorId) === received ? name : undefined;
}
