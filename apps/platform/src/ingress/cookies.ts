/**
 * Cookies of a deployed server. Browsers tell cookies of two ports of a host apart by nothing but
 * their names, so on the way out each name gets the connector in front, and on the way in only
 * those that have it pass, without it: a server sees the cookies it set itself, neither the
 * platform's nor another server's, and can set none of theirs. Caller: forwarded-headers.ts.
 * docs/decisions/0037.
 */

/**
 * Names from which browsers conclude how a cookie was set, in any case; the longest first. They
 * stay in front.
 */
const PREFIX = /^(?:__Host-Http-|__Host-|__Http-|__Secure-)/i;
/** No connector's id holds it, so that none is the beginning of another. */
const MARK = ".";
/** Of name and value. Browsers take no longer ones. */
const LONGEST_BYTES = 4096;
const DOMAIN = /^\s*domain\s*(?:=|$)/i;

/**
 * @param setCookie one header of the server's, one character for each byte
 * @returns what the browser gets, for this very host alone; undefined for what browsers would take
 *   for a cookie of no name, or not take
 */
export function outgoingCookie(setCookie: string, connectorId: string): string | undefined {
  const [pair = "", ...attributes] = setCookie.split(";");
  const { name, value } = readPair(pair);
  if (name === "") return undefined;
  const renamed = `${marked(name, connectorId)}=${value}`;
  if (renamed.length - 1 > LONGEST_BYTES) return undefined;
  return [renamed, ...attributes.filter((attribute) => !DOMAIN.test(attribute))].join(";");
}

/**
 * @returns the Cookie header as the server gets it; undefined where none of the cookies is its own
 */
export function incomingCookies(header: string, connectorId: string): string | undefined {
  const own = header.split(";").flatMap((pair) => {
    const { name: received, value } = readPair(pair);
    const name = unmarked(received, connectorId);
    return name === undefined ? [] : [`${name}=${value}`];
  });
  return own.length === 0 ? undefined : own.join("; ");
}

/** The name is empty where there is no `=`: to browsers the text is a value then. */
function readPair(pair: string): { readonly name: string; readonly value: string } {
  const at = pair.indexOf("=");
  return { name: pair.slice(0, Math.max(at, 0)).trim(), value: pair.slice(at + 1).trim() };
}

function marked(name: string, connectorId: string): string {
  const [prefix = ""] = PREFIX.exec(name) ?? [];
  return `${prefix}${connectorId}${MARK}${name.slice(prefix.length)}`;
}

/**
 * @returns undefined where the server has set no cookie that has become this one,
 *   `connector.__Host-name` among them
 */
function unmarked(received: string, connectorId: string): string | undefined {
  const [prefix = ""] = PREFIX.exec(received) ?? [];
  const name = prefix + received.slice(prefix.length + connectorId.length + MARK.length);
  return name !== "" && marked(name, connectorId) === received ? name : undefined;
}
