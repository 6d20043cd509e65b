/** What texts of a vendor's fields may be: for entries, and with the same words for operators. */
import { matching, type PatternCheck } from "../../mechanics/pattern-check.ts";
import { isScopeToken } from "../../protocol/scope.ts";

/** Headers of a token request that say what it is, and who asks: never an entry's. */
export const OWN_TOKEN_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** A name, or several with dots between them; digits are a position in a list. */
export const checkMemberPath: PatternCheck = matching(
  /^[\w-]{1,64}(\.[\w-]{1,64}){0,7}$/,
  "must be the name of a member, or names with dots between them",
);

/** A vendor's error code as its answers have it: any text without control characters. */
export const checkErrorCode: PatternCheck = matching(
  /^\P{Cc}{1,256}$/u,
  "must be an error code of at most 256 characters",
);

const HEADER_NAME = matching(/^[\w!#$%&'*+.^`|~-]{1,64}$/, "must be the name of a header");

/** A header that an entry may add to a request. */
export const checkHeaderName: PatternCheck = Object.assign(
  (value: string) =>
    HEADER_NAME(value) ?? (OWN_TOKEN_HEADERS.has(value.toLowerCase()) ? "is a header only the broker sets" : undefined),
  { pattern: HEADER_NAME.pattern },
);

/** The value of such a header. */
export const checkHeaderValue: PatternCheck = matching(
  /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/,
  "must be printable ASCII, at most 1024 characters, without white space at its ends",
);

/** The name of a header, a parameter or a scheme that the entry chooses. */
export const checkTokenName: PatternCheck = matching(/^[\w-]{1,64}$/, "must be a name of letters, digits, _ and -");

/** A domain name with at least one dot. */
export const checkDomain: PatternCheck = matching(
  /^[a-z\d-]{1,63}(\.[a-z\d-]{1,63}){1,7}$/,
  "must be a domain in lower case",
);

/** One scope. */
export const checkScope: PatternCheck = Object.assign(
  (value: string) => (isScopeToken(value) ? undefined : "must be one scope without spaces, quotes and backslashes"),
  { pattern: /^[!#-[\]-~]+$/ },
);

/** What users read on a page: no markup, nothing that hides or turns letters, and short. */
export const checkSentence: PatternCheck = matching(
  /^[A-Z][\w ,.:;'()/-]{1,118}[\w)]$/,
  "must be a sentence of at most 120 plain characters, without a full stop at its end",
);

/** What the broker reads of a callback itself. */
export const OWN_CALLBACK_PARAMETERS: readonly string[] = [
  "code",
  "state",
  "iss",
  "error",
  "error_description",
  "error_uri",
];

/** A parameter of the callback that is passed on. */
export function checkCallbackParameter(name: string): string | undefined {
  return OWN_CALLBACK_PARAMETERS.includes(name) ? "is a parameter the broker reads itself" : undefined;
}
