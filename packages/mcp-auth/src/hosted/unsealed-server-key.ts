/**
 * A server key that lies unsealed although there is a key to seal it: every reader of the table knows it, and a writer of the table
 * may have put it there. For server-key-record.ts.
 */
import { randomBytes } from "node:crypto";
import { OAuthError } from "@oauth-broker/oauth-core";

export const SERVER_KEY_BYTES = 32;

/**
 * @param adoptUnsealed the word of the operator, `ADOPT_UNSEALED_SERVER_KEY`
 * @returns the key that takes its place: a new one, so that what was made or forged under the open one ends with it
 * @throws OAuthError temporarily_unavailable without that word
 */
export function keyInPlaceOfUnsealed(adoptUnsealed: boolean): Buffer {
  //= bar#TS-7
  if (adoptUnsealed) return randomBytes(SERVER_KEY_BYTES);
  throw new OAuthError("temporarily_unavailable", "The server key cannot be opened", {
    reason: "keys_unavailable",
    detail:
      "the server key lies unsealed although a key to seal it is set: where that key is new, start once with " +
      "ADOPT_UNSEALED_SERVER_KEY=true, which ends all sessions; where it is not, the table was written by another",
  });
}
