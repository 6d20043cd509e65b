/**
 * Secrets, and values derived from them, are compared in constant time only: by `isSameText`, or by
 * `timingSafeEqual` on bytes. Run by `npm run check` (gate "boundaries"), and by
 * secret-comparisons.test.ts on an example.
 *
 * It recognizes them by name: `===`, `!==` and `.equals()` between two values of which one is
 * called a hash, a MAC, a secret and the like. It does not recognize a secret by another name, a
 * `switch`, or a look-up in a set or map.
 */
import type { Violation } from "./boundaries.ts";
import type { SourceFile } from "../sources.ts";

/** The last word of a name: `hash`, `codeHash`, `hashOf`; `reveal` returns the text of a Secret. */
const SECRET =
  /(?:^|[a-z_])(?:secret|h?mac|hash|digest|verifier|csrf|challenge|signature|tag|commitment|binding|token|cookie|password|credential|bearer|nonce|sealed|hashof|tokentag|reveal)$/i;

/** Comparisons that reveal nothing, each with the reason. */
const ALLOWED: readonly { readonly file: RegExp; readonly text: string }[] = [
  // Public: it travels in the state and is derived from nothing secret.
  { file: /^apps\/broker\/src\/flows\//, text: "choice.contextHash === flow.contextHash" },
  // The version of a keyset as it was read, with the present one: neither comes from outside.
  { file: /\/keys\/keyset-storage\.ts$/, text: "(await read({ adopt: true }))?.tag !== over.tag" },
  { file: /\/keys\/keyset-storage\.ts$/, text: "stored?.tag !== over?.tag" },
  // Both came from the broker or from the vendor; no caller chooses one.
  {
    file: /\/vendor-client\/token\/refresh\.ts$/,
    text: "(answer.refreshToken ?? request.refreshToken) !== request.refreshToken",
  },
  { file: /^packages\/token-store\/src\/refresh\/commit\.ts$/, text: "refreshToken?.reveal() !== sent.reveal()" },
  {
    file: /^packages\/token-store\/src\/refresh\/vendor-call\.ts$/,
    text: "previous.refreshToken.reveal() === stored.tokens.refreshToken?.reveal()",
  },
  // Against a constant: whether the key was overwritten.
  { file: /\/crypto\/aes-gcm\.ts$/, text: "key.equals(NO_KEY)" },
];

//= bar#HT-9
export function checkSecretComparisons(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ kind }) => kind === "product")
    .flatMap(({ path, comparisons }) =>
      comparisons
        .filter(({ names }) => names.some((name) => SECRET.test(name)))
        .filter(({ text }) => !ALLOWED.some((allowed) => allowed.file.test(path) && allowed.text === text))
        .map(({ text, line }) => ({
          rule: "secrets are compared in constant time",
          path,
          line,
          message: `${text} reveals by its timing how much matches: use isSameText of oauth-core/protocol/secret.ts`,
        })),
    );
}

/** The entries of ALLOWED that occur in no file any more. */
export function staleAllowances(files: readonly SourceFile[]): Violation[] {
  return ALLOWED.filter(
    ({ file, text }) =>
      !files.some(({ path, comparisons }) => file.test(path) && comparisons.some((one) => one.text === text)),
  ).map(({ text }) => ({
    rule: "secrets are compared in constant time",
    path: "tooling/src/code/secret-comparisons.ts",
    line: 1,
    message: `${text} is allowed, and stands in no file`,
  }));
}
