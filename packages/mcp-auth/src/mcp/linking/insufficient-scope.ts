/** Reads from a vendor's 403 which scopes its API wants (RFC 6750 §3.1). */

/** One parameter of a challenge, its value as a token or quoted. */
const PARAMETER = /(?<=^|[\s,])([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi;
/** A scheme, in a list of challenges. */
const BEARER = /(?:^|,)\s*Bearer\s+/i;
/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const MOST_CHARACTERS = 4_096;

/** @returns the named scopes; none for any other response, or where it names none */
export function scopesLacking({ status, headers }: Pick<Response, "status" | "headers">): readonly string[] {
  const header = headers.get("www-authenticate") ?? "";
  const start = BEARER.exec(header);
  if (status !== 403 || header.length > MOST_CHARACTERS || start === null) return [];
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, token] of header.slice(start.index + start[0].length).matchAll(PARAMETER)) {
    // Of a further challenge, or a repeated one: the first counts.
    if (!parameters.has(name.toLowerCase()))
      parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? token ?? "");
  }
  const scope = parameters.get("scope") ?? "";
  return parameters.get("error") === "insufficient_scope" && SCOPE.test(scope) ? scope.split(" ") : [];
}
