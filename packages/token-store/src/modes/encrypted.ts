/**
 * Mode `encrypted`, once no build that reads plaintext is left.
 *
 *   who                     reads                                       writes
 *   this build, encrypted   the ciphertext, nothing else                ciphertext only; a copy that was there goes
 *   this build, bridge      the ciphertext; a copy that an older        ciphertext only in rows marked `encrypted`
 *                           build put there since
 *   an older build          nothing in rows written in this mode        -
 *   a reader of the table   no token, once `token-store strip` has      -
 *                           removed the copies of before
 *
 * A row without ciphertext fails closed: an older build may have written it, or an attacker who can
 * write the table.
 */
import { TokenStoreError } from "../errors.ts";
import type { Mode } from "../tokens/mode.ts";

const PLAINTEXT_ONLY = "plaintext only, which mode encrypted does not read";

export const encrypted: Mode = {
  name: "encrypted",
  choose({ sealed, copy }) {
    //= bar#TS-7
    if (sealed === undefined) throw new TokenStoreError("unreadable", { detail: PLAINTEXT_ONLY });
    return { tokens: sealed, reseal: false, ...(copy === undefined ? {} : { finding: "copy_ignored" }) };
  },
  writesCopy: () => false,
  heedsCopy: false,
};
