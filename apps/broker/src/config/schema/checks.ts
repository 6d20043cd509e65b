/** Checks of texts within a vendor's entry. */
import { matching, type PatternCheck } from "@oauth-broker/oauth-core";

/** The token is sent in a header after `Bearer `. */
export const checkToken: PatternCheck = matching(
  /^[\x21-\x7e]{1,4096}$/,
  "must be visible ASCII without spaces, at most 4096 characters",
);

export const checkPlaceholderName: PatternCheck = matching(
  /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
  "must be a name: a letter, then letters, digits, _ and -",
);
