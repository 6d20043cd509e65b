/**
 * Which mode applies, and whether it can be used. Decided once, at start: a store in the wrong mode
 * must not serve.
 */
import { TokenStoreError } from "../errors.ts";
import { bridge } from "./bridge.ts";
import { encrypted } from "./encrypted.ts";
import type { Mode } from "../tokens/mode.ts";
import type { ModeName } from "../tokens/token-attributes.ts";

/**
 * @param inCode applies only when the variable is unset
 * @param variable TOKEN_ENCRYPTION_MODE as set; empty is unset
 * @param fallback when neither is set: `bridge` for a table that may have older readers
 * @throws TokenStoreError mode_conflict when both are set and differ, settings_invalid for a word
 *   that is not a mode
 */
export function chooseMode(inCode: string | undefined, variable: string | undefined, fallback: ModeName): ModeName {
  const set = variable === undefined || variable === "" ? undefined : parseMode(variable, "TOKEN_ENCRYPTION_MODE");
  const given = inCode === undefined ? undefined : parseMode(inCode, "the mode given in code");
  if (set !== undefined && given !== undefined && set !== given) {
    throw new TokenStoreError("mode_conflict", { detail: `TOKEN_ENCRYPTION_MODE is ${set}, the code says ${given}` });
  }
  return set ?? given ?? fallback;
}

/**
 * @throws TokenStoreError key_missing: `encrypted` without a key would have nothing to encrypt with
 */
export function modeNamed(name: ModeName, { hasKeys }: { readonly hasKeys: boolean }): Mode {
  if (name === "bridge") return bridge;
  if (!hasKeys) throw new TokenStoreError("key_missing");
  return encrypted;
}

function parseMode(text: string, where: string): ModeName {
  if (text === "bridge" || text === "encrypted") return text;
  throw new TokenStoreError("settings_invalid", { detail: `${where} must be bridge or encrypted` });
}
