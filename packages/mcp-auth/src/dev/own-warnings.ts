/**
 * Warnings of the server that `npm run dev` causes itself: they are about values for this machine
 * (a copy of the vendor, any client may register), and a deployment has others.
 */
import type { Environment } from "../config.ts";

/**
 * @param given what the author has set
 * @param set over it: `desk` the same on every machine, for any input; `vendor` of the copy
 * @returns whether a line of the server's log warns about a variable that is set here
 */
export function ownWarnings(
  given: Environment,
  { desk, vendor }: { readonly desk: Environment; readonly vendor: Environment },
): (line: string) => boolean {
  // A value that only repeats the author's is theirs.
  const ofVendor = Object.keys(vendor).filter((name) => vendor[name] !== given[name]);
  const own = new Set([...Object.keys(desk), ...ofVendor]);
  return (line) => own.has(/"event":"configuration_warning","warning":"(\w+) /.exec(line)?.[1] ?? "");
}
