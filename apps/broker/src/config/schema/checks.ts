/** Checks of texts within a vendor's entry. */
import { matching, type PatternCheck } from "@oauth-broker/service/configuration";
import { OWN_TOKEN_HEADERS } from "@oauth-broker/oauth-core/registry";

/** The token is sent in a header after `Bearer `. */
export const checkToken: PatternCheck = matching(
  /^[\x21-\x7e]{1,4096}$/,
  "must be visible ASCII without spaces, at most 4096 characters",
);

export const checkPlaceholderName: PatternCheck = matching(
  /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
  "must be a name: a letter, then letters, digits, _ and -",
);

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

export const checkHeaderName: PatternCheck = Object.assign(
  (value: string) =>
    HEADER_NAME(value) ?? (OWN_TOKEN_HEADERS.has(value.toLowerCase()) ? "is a header only the broker sets" : undefined),
  { pattern: HEADER_NAME.pattern },
);

export const checkHeaderValue: PatternCheck = matching(
  /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/,
  "must be printable ASCII, at most 1024 characters, without white space at its ends",
);
