/**
 * Where a browser may be sent. The only code that creates a `VerifiedRedirect`, and the only way
 * from one to a URL with parameters, so that redirecting to an unchecked URI does not compile.
 * Called at /v1/par and /authorize, again before every redirect (from the stored URI), and over the
 * configuration at start.
 */
import { OAuthError } from "../protocol/errors.ts";

const checked: unique symbol = Symbol("checked redirect URI");

/** A redirect URI that was found on the client's list. */
export interface VerifiedRedirect {
  readonly uri: string;
  /**
   * The redirect target; `uri` is for reading. A copy with another `uri` changes nothing, and a
   * forged object throws.
   */
  readonly [checked]: string;
}

/**
 * @param requested as received
 * @param registered the client's list, each checked by `requireRegistrableRedirectUri` when it was registered
 * @throws OAuthError invalid_request, reason `redirect_uri`, unless `requested` is on the list,
 *   character for character
 */
export function verifyRedirectUri(requested: string, registered: readonly string[]): VerifiedRedirect {
  //= rfc9700#2.1
  //= rfc6749#3.1.2.3
  //= bar#ST-2
  if (!registered.includes(requested)) throw notRegistered();
  return verified(requested);
}

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::([1-9][0-9]{0,4}))?((?:[/?].*)?)$/;

/**
 * As `verifyRedirectUri`, for native clients that cannot know their port when they register: a registered
 * `http://127.0.0.1/…`, `http://[::1]/…` or `http://localhost/…` also matches with another port,
 * everything else equal. The user's machine decides what `localhost` resolves to, so it matches
 * only itself.
 *
 * @throws OAuthError invalid_request, reason `redirect_uri`
 */
export function verifyNativeRedirectUri(requested: string, registered: readonly string[]): VerifiedRedirect {
  //= rfc8252#7.3
  //= rfc8252#8.3
  if (!registered.some((uri) => uri === requested || differOnlyInLoopbackPort(uri, requested))) throw notRegistered();
  return verified(requested);
}

function differOnlyInLoopbackPort(a: string, b: string): boolean {
  const [, hostA, , restA] = LOOPBACK.exec(a) ?? [];
  const [, hostB, portB, restB] = LOOPBACK.exec(b) ?? [];
  //= rfc8252#7.3
  //= bar#AS-1
  return hostA !== undefined && hostA === hostB && restA === restB && Number(portB ?? 80) <= 65_535;
}

function verified(uri: string): VerifiedRedirect {
  return Object.freeze({ uri, [checked]: uri });
}

function notRegistered(): OAuthError {
  //= rfc9126#2.3
  return new OAuthError("invalid_request", "redirect_uri is not registered for this client", {
    reason: "redirect_uri",
  });
}

/**
 * The URI with parameters added, form-encoded. Its existing text, including a query, is unchanged.
 *
 * @param params `undefined` leaves a parameter out
 */
export function redirectUrl(to: VerifiedRedirect, params: Readonly<Record<string, string | undefined>>): string {
  const uri = to[checked];
  if (typeof uri !== "string") throw new TypeError("not a VerifiedRedirect");
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== undefined) added.append(name, value);
  if (added.size === 0) return uri;
  //= rfc6749#3.1.2
  const separator = !uri.includes("?") ? "?" : /[?&]$/.test(uri) ? "" : "&";
  return uri + separator + added.toString();
}

const URI_CHARACTERS = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);
/** Parsers disagree on escaped ASCII in a path (dots, separators, `%`, controls, letters). */
const ESCAPED_ASCII = /%[0-7]/;
const ESCAPED_CONTROL = /%(?:[01][0-9a-f]|7f)/i;
const RESPONSE_PARAMETERS = ["code", "state", "iss", "error", "error_description", "error_uri", "flow_id"];

/**
 * Checks a redirect URI before it is put on a client's list: absolute https (http on loopback
 * only), canonical, and without parts that two parsers could read differently.
 *
 * @throws OAuthError invalid_redirect_uri, naming the rule
 */
export function requireRegistrableRedirectUri(uri: string): void {
  const problem = checkRedirectUri(uri);
  if (problem !== undefined) throw new OAuthError("invalid_redirect_uri", `redirect_uri ${problem}`);
}

/** Which rule for a client's list it breaks, as the end of a sentence; undefined when it may be listed. */
export function checkRedirectUri(uri: string): string | undefined {
  if (uri.length > 2000) return "is longer than 2000 characters";
  if (!URI_CHARACTERS.test(uri)) return "has characters a URI must not have, or a broken percent-encoding";
  //= rfc6749#3.1.2
  if (uri.includes("#")) return "must not have a fragment";
  const url = URL.parse(uri);
  if (url === null) return "must be an absolute URI";
  //= rfc9700#2.6
  if (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK_HOSTS.has(url.hostname))) {
    return "must be https, or http on 127.0.0.1, [::1] or localhost";
  }
  if (url.username !== "" || url.password !== "") return "must not have user information";
  if (!hasPlainHost(url)) return "must name a plain host";
  if (url.href !== uri && url.href !== `${uri}/`) return "must be in canonical form";
  if (uri.includes("*")) return "must not have a wildcard: it is compared as it is";
  if (!hasPlainPath(url)) return "must have a plain path: no escaped ASCII, empty segment or leading dots";
  if (ESCAPED_CONTROL.test(url.search)) return "must not have escaped control characters";
  if (RESPONSE_PARAMETERS.some((name) => url.searchParams.has(name))) return "must not have parameters of our response";
  return undefined;
}

function hasPlainPath({ pathname }: URL): boolean {
  if (ESCAPED_ASCII.test(pathname) || /\/\/|\/\.\./.test(pathname)) return false;
  try {
    // Parsers differ on escaped bytes that are not UTF-8: some read %c0%ae as a dot.
    return decodeURIComponent(pathname) !== "";
  } catch {
    return false;
  }
}

function hasPlainHost({ hostname }: URL): boolean {
  return hostname.startsWith("[") || hostname.split(".").every((label) => LABEL.test(label));
}
