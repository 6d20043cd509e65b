/**
 * Reads from a response of a vendor's API which scopes it requires: as RFC 6750 §3.1 says it, or as
 * the vendor's entry does. What may then be asked of the user is decided in find-links.ts.
 */
import { isJsonContentType } from "@modelcontextprotocol/server";
import { createByteCollector, isJsonObject, type JsonObject, type JsonValue } from "@oauth-broker/oauth-core";
import { memberAt } from "@oauth-broker/oauth-core/vendor-client";
import { isScopeToken } from "@oauth-broker/oauth-core/protocol";
import type { ScopeRefusal } from "@oauth-broker/oauth-core/registry";

/** One parameter of a challenge, its value as a token or quoted. */
const PARAMETER = /(?<=^|[\s,])([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi;
/** A scheme, in a list of challenges. */
const BEARER = /(?:^|,)\s*Bearer\s+/i;
const MOST_CHARACTERS = 4_096;
/** A refusal is short: the body of any other answer is not decoded. */
const MOST_BYTES = 16_384;

/** What is known before the vendor answers. */
export interface ScopeReading {
  /** From the vendor's entry. */
  readonly scopeRefusal?: ScopeRefusal | undefined;
  /** What the user can be asked for in this call: chosen from, if any one scope is enough. */
  readonly askable: readonly string[];
}

/**
 * @param answer its body can still be read afterwards
 * @returns the named scopes; none for any other response, or if it names none
 */
export async function scopesLacking(
  answer: Response,
  { scopeRefusal, askable }: ScopeReading,
): Promise<readonly string[]> {
  const challenged = inChallenge(answer);
  if (scopeRefusal?.from === "challenge") {
    const enough = challenged.filter((scope) => askable.includes(scope));
    return enough.length > 0 ? enough : challenged;
  }
  if (challenged.length > 0 || answer.status !== scopeRefusal?.status) return challenged;
  if (scopeRefusal.from === "body") return inBody(answer, scopeRefusal);
  return inHeaders(answer, scopeRefusal).filter((scope) => askable.includes(scope));
}

function inChallenge({ status, headers }: Pick<Response, "status" | "headers">): readonly string[] {
  const header = headers.get("www-authenticate") ?? "";
  const start = BEARER.exec(header);
  if (status !== 403 || header.length > MOST_CHARACTERS || start === null) return [];
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, token] of header.slice(start.index + start[0].length).matchAll(PARAMETER)) {
    // With a further challenge, or a repeated one: the first is used.
    if (!parameters.has(name.toLowerCase()))
      parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? token ?? "");
  }
  return parameters.get("error") === "insufficient_scope" ? tokensIn(parameters.get("scope"), " ") : [];
}

/**
 * A 403 for another reason names accepted scopes too: it is one of scope if the token has none of
 * them.
 */
function inHeaders(
  { headers }: Pick<Response, "headers">,
  { accepted, granted, separator }: Extract<ScopeRefusal, { readonly from: "headers" }>,
): readonly string[] {
  const has = headers.get(granted);
  if (has === null || has.length > MOST_CHARACTERS) return [];
  const present = has.split(separator).map((scope) => scope.trim());
  const enough = tokensIn(headers.get(accepted) ?? undefined, separator);
  return enough.some((scope) => present.includes(scope)) ? [] : enough;
}

async function inBody(
  answer: Response,
  { member, values, scopes, separator }: Extract<ScopeRefusal, { readonly from: "body" }>,
): Promise<readonly string[]> {
  if (answer.bodyUsed || !isJsonContentType(answer.headers.get("content-type"))) return [];
  const body = await readObject(answer.clone());
  if (body === undefined || !values.some((value) => memberAt(body, member) === value)) return [];
  return tokensIn(memberAt(body, scopes), separator);
}

/**
 * A body that never comes to its end is ended by the limits of the egress that received it.
 *
 * @returns undefined for a body that is longer than a refusal, in too many chunks, cut short, or no
 *   object
 */
async function readObject({ body }: Response): Promise<JsonObject | undefined> {
  const reader = body?.getReader();
  const collected = createByteCollector(MOST_BYTES);
  try {
    for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
      if (collected.add(next.value) !== undefined) {
        // Cancels the copy. It is not awaited: it ends with the original.
        void reader?.cancel().catch(() => undefined);
        return undefined;
      }
    }
    const value = JSON.parse(new TextDecoder().decode(collected.bytes())) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @returns none if one of them is not a scope */
function tokensIn(list: JsonValue | undefined, separator: string): readonly string[] {
  if (typeof list !== "string" || list.length > MOST_CHARACTERS) return [];
  const tokens = list.split(separator).map((token) => (separator === " " ? token : token.trim()));
  return tokens.every(isScopeToken) ? tokens : [];
}
