/**
 * Mode `bridge`, while builds without encryption still use the table.
 *
 *   who                     reads                                       writes
 *   an older build          the plaintext copy                          the plaintext copy
 *   this build, bridge      the ciphertext; the copy if an older     ciphertext and a plaintext copy, except in rows
 *                           build changed it or wrote the row           marked `encrypted`: those get no copy any more
 *   this build, encrypted   the ciphertext                              ciphertext only
 *   a reader of the table   every token that has a copy                 -
 *
 * A ciphertext that does not open fails, copy or no copy: a fallback to the copy would let an
 * attacker who can write the table choose the tokens.
 */
import { defined } from "@oauth-broker/oauth-core";
import { isSameCopy } from "../tokens/token-attributes.ts";
import type { Mode } from "../tokens/mode.ts";

export const bridge: Mode = {
  name: "bridge",
  choose({ sealed, copy }) {
    if (sealed === undefined) return { tokens: copy, reseal: true, finding: "plaintext_only" };
    //= bar#TS-8
    if (copy === undefined || isSameCopy(sealed, copy)) return { tokens: sealed, reseal: false };
    // What a copy cannot hold stays: the older build did not change it.
    const { vendorData, link } = sealed;
    const tokens = { ...copy, ...defined({ vendorData, link }) };
    return { tokens, reseal: true, finding: "copy_changed" };
  },
  //= bar#TS-11
  writesCopy: (mark) => mark !== "encrypted",
  heedsCopy: true,
};
