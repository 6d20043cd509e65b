/**
 * Request parameters, parsed once and strictly: a form body or a query string in, single values
 * out. The first step of every route; parameters that pass have one reading for every parser before
 * or behind us.
 */
import type { JsonObject } from "../ports.ts";
import { OAuthError } from "./errors.ts";
import { parseJsonObject } from "./strict-json.ts";

/** The parameters of one request, each sent at most once (RFC 6749 §3.1). */
export interface Parameters {
  /** The value; `undefined` when absent or empty. */
  get(name: string): string | undefined;
  /** @throws OAuthError invalid_request naming the parameter when absent or empty */
  require(name: string): string;
  /** Whether there is a value that is not empty. */
  has(name: string): boolean;
  /** Names with a value, in the order sent. */
  names(): string[];
  /**
   * The value as sent, including an empty one: at the callback an empty `iss` is wrong, not
   * absent.
   */
  sent(name: string): string | undefined;
}

const MAX_MEMBERS = 64;
const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]/;
const LINE_OR_NUL = /[\0\r\n]/;

/**
 * @param encoded application/x-www-form-urlencoded, without a leading `?`
 * @throws OAuthError invalid_request for a repeated name (also with empty values), broken
 *   percent-encoding or UTF-8, NUL, CR or LF (raw or escaped), raw characters outside printable
 *   ASCII, and more than 64 members
 */
export function parseParameters(encoded: string): Parameters {
  //= bar#HT-4
  if (NOT_PRINTABLE_ASCII.test(encoded)) throw malformed();
  // A Map: `__proto__`, `constructor` and dotted names are names like any other (bar HT-3).
  const values = new Map<string, string>();
  for (const pair of encoded === "" ? [] : encoded.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    //= rfc6749#3.1
    //= bar#HT-3
    if (values.has(name)) throw repeated(name);
    if (values.size === MAX_MEMBERS) throw new OAuthError("invalid_request", "too many parameters");
    const value = equals < 0 ? "" : pair.slice(equals + 1);
    values.set(name, PROSE.has(name) ? decodeText(value) : decode(value, name));
  }
  return view(values);
}

function view(values: ReadonlyMap<string, string>): Parameters {
  //= rfc6749#3.2
  const get = (name: string): string | undefined => nonEmpty(values.get(name));
  return {
    get,
    require: (name) => {
      const value = get(name);
      if (value === undefined) throw new OAuthError("invalid_request", `${name} is missing`);
      return value;
    },
    has: (name) => get(name) !== undefined,
    names: () => [...values.keys()].filter((name) => values.get(name) !== ""),
    sent: (name) => values.get(name),
  };
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

/** Sent from a file as often as typed: `curl --data-urlencode vendor_client_secret@FILE`. */
const CREDENTIALS: ReadonlySet<string> = new Set(["vendor_client_id", "vendor_client_secret"]);

/** @param name of the value; a name has none */
function decode(text: string, name?: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  let decoded: string;
  try {
    decoded = decodeURIComponent(spaced);
  } catch {
    throw malformed();
  }
  if (name !== undefined && CREDENTIALS.has(name)) decoded = decoded.replace(/^\uFEFF|[\r\n]+$/g, "");
  //= bar#HT-4
  if (LINE_OR_NUL.test(decoded)) {
    throw new OAuthError("invalid_request", `${shownName(name)} has a line break or a NUL`);
  }
  return decoded;
}

const PROSE: ReadonlySet<string> = new Set(["error_description", "error_message"]);

/**
 * `error_description`, and Facebook's `error_message`, are prose that no program acts on, and
 * vendors do send line breaks in it (Microsoft: on every cancelled consent). Refusing the request
 * would hide the error itself, so breaks become spaces, and a text that cannot be decoded becomes
 * empty.
 */
//= bar#CB-10
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " ")).replace(/[\0\r\n]+/g, " ");
  } catch {
    return "";
  }
}

function malformed(): OAuthError {
  return new OAuthError("invalid_request", "parameters are not valid form encoding");
}

function repeated(name: string): OAuthError {
  return new OAuthError("invalid_request", `${shownName(name)} is given more than once`);
}

/** Any other name is the caller's text. */
function shownName(name = ""): string {
  return RESERVED_AUTHORIZATION_PARAMETERS.has(name) || OTHER_PARAMETERS.has(name) ? name : "A parameter";
}

/**
 * Authorization request parameters that only we set: refused in `vendor_params` and in a vendor's
 * fixed parameters.
 */
//= bar#ST-4
export const RESERVED_AUTHORIZATION_PARAMETERS: ReadonlySet<string> = new Set([
  "client_id",
  "client_secret",
  "client_assertion",
  "client_assertion_type",
  "redirect_uri",
  "response_type",
  "response_mode",
  "state",
  "nonce",
  "scope",
  "code",
  "code_challenge",
  "code_challenge_method",
  "code_verifier",
  "grant_type",
  "request",
  "request_uri",
  "registration",
  "dpop_jkt",
  "iss",
]);

/** Further parameters of our endpoints. */
const OTHER_PARAMETERS: ReadonlySet<string> = new Set([
  "access_token",
  "authorization_endpoint",
  "connection",
  "issuer",
  "login_hint",
  "placeholders",
  "prompt",
  "refresh_token",
  "resource",
  "token",
  "token_endpoint",
  "token_type_hint",
  "vendor",
  "vendor_client_id",
  "vendor_client_secret",
  "vendor_params",
]);

/** A vendor's own names of parameters, by the standard name. */
export interface ParameterNames {
  readonly parameterNames: Readonly<Record<string, string>>;
  /** Those of the authorization request alone. */
  readonly authorizationParameterNames?: Readonly<Record<string, string>>;
}

/**
 * Whether a vendor could take `name` for a reserved one. Some servers ignore case; PHP reads
 * `redirect.uri`, `redirect uri` and `redirect_uri[x]` as `redirect_uri`.
 *
 * @param vendor its own name of one of our parameters is as reserved as ours
 * @param further names that are reserved too
 */
export function isReservedAuthorizationParameter(
  name: string,
  { parameterNames = {}, authorizationParameterNames = {} }: Partial<ParameterNames> = {},
  further: ReadonlySet<string> = new Set(),
): boolean {
  const folded = foldName(name);
  if (folded.startsWith("code_challenge") || RESERVED_AUTHORIZATION_PARAMETERS.has(folded)) return true;
  if (further.has(folded)) return true;
  const own = [parameterNames, authorizationParameterNames].flatMap((names) => Object.values(names));
  return own.some((one) => foldName(one) === folded);
}

function foldName(name: string): string {
  return name.trim().toLowerCase().replace(/\[.*$/s, "").replace(/[. ]/g, "_");
}

/**
 * A parameter whose value is a JSON object of strings (`placeholders`, `vendor_params`).
 *
 * @param what the parameter's name, for the message
 * @returns an object without prototype: every member is one that was sent
 * @throws OAuthError invalid_request
 */
export function parseStringMap(json: string, what: string): Record<string, string> {
  const map: Record<string, string> = Object.create(null);
  const entries = Object.entries(parseObject(json, what));
  if (entries.length > MAX_MEMBERS) throw new OAuthError("invalid_request", `${what} has too many members`);
  for (const [name, value] of entries) {
    if (typeof value !== "string" || !isPlain(name) || !isPlain(value)) throw notStringMap(what);
    map[name] = value;
  }
  return map;
}

/**
 * Text that every parser reads alike: no lone surrogate (it has no percent-encoding) and no control
 * character.
 */
function isPlain(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
}

function parseObject(json: string, what: string): JsonObject {
  try {
    return parseJsonObject(json);
  } catch (cause) {
    throw notStringMap(what, cause);
  }
}

function notStringMap(what: string, cause?: unknown): OAuthError {
  return new OAuthError("invalid_request", `${what} must be a JSON object of strings, each name once`, { cause });
}
