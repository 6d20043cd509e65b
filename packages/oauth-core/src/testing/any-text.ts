import type fastCheck from "fast-check";

const SURROGATES_FROM = 0xd800;
const SURROGATES = 0x800;

/**
 * Text of any code points but halves of pairs: what `unit: "binary"` of fast-check makes, which
 * first fills a map of all million of them, three seconds in each process.
 *
 * @param fc as the test imports it
 */
export function anyText(
  fc: typeof fastCheck,
  length: { readonly minLength?: number; readonly maxLength?: number } = {},
): fastCheck.Arbitrary<string> {
  const unit = fc
    .nat(0x10_ffff - SURROGATES)
    .map((at) => String.fromCodePoint(at < SURROGATES_FROM ? at : at + SURROGATES));
  return fc.string({ ...length, unit });
}
