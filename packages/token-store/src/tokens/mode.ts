/**
 * What a mode decides. Each mode is one file that opens with a table of readers and writers;
 * tokens/row-records.ts uses it.
 */
import type { ModeName } from "./token-attributes.ts";
import type { TokenSet } from "./tokens.ts";

/**
 * The two halves of a row, at least one of which is present. A sealed half that does not open fails
 * before a mode is asked.
 */
type Halves =
  | { readonly sealed: TokenSet; readonly copy: TokenSet | undefined }
  | { readonly sealed: undefined; readonly copy: TokenSet };

/** Why a row is written again, or what is worth counting about it. */
export type Finding = "plaintext_only" | "copy_changed" | "copy_ignored";

export interface Mode {
  readonly name: ModeName;
  /**
   * Which half of a row is valid.
   *
   * @returns `reseal`: `tokens` came from the copy and must be sealed before they are used
   * @throws TokenStoreError unreadable for a half that this mode does not read
   */
  choose(halves: Halves): { readonly tokens: TokenSet; readonly reseal: boolean; readonly finding?: Finding };
  /**
   * Whether new tokens get a plaintext copy in a row that carries this mark; a new row has none.
   */
  writesCopy(mark: ModeName | undefined): boolean;
  /**
   * Whether a changed copy holds new tokens of another writer, which must not be overwritten
   * without being read.
   */
  readonly heedsCopy: boolean;
}
