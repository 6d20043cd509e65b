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

/**
 * URLs of http and https, with and without path, query and fragment: what `webUrl` of fast-check
 * makes, whose paths need the same map.
 *
 * @param fc as the test imports it
 */
export function anyWebUrl(fc: typeof fastCheck): fastCheck.Arbitrary<string> {
  const part = anyText(fc, { maxLength: 6 }).map(encodeURIComponent);
  const path = fc.array(part, { maxLength: 3 }).map((parts) => parts.map((one) => `/${one}`).join(""));
  const after = (mark: string): fastCheck.Arbitrary<string> =>
    fc.oneof(
      fc.constant(""),
      part.map((one) => mark + one),
    );
  return fc
    .tuple(fc.constantFrom("http", "https"), fc.webAuthority({ withPort: true }), path, after("?"), after("#"))
    .map(([scheme, authority, ...rest]) => `${scheme}://${authority}${rest.join("")}`);
}
