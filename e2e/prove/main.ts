/**
 * `npm run vendors:prove`. Exits with 1 when a vendor fails, or when the wrong facts that no step
 * notices are not the known gaps of report.ts.
 */
import { readProgram, say } from "../support/program.ts";
import { proveVendors, vendorsThatAreOn } from "./prove.ts";
import { isGoodEnough, report } from "./report.ts";

const HELP = `Usage: npm run vendors:prove [-- OPTIONS]

Each vendor that is on is connected, refreshed, revoked and refused through the broker, against a
simulator made from its entry; then every fact of the broker's copy is made wrong, one at a time.

  --vendor ID      this one only; may be repeated, and may be one that is off
  --no-mutations   the journeys alone
  -h, --help       this text
  -v, --version    the version
`;

const OPTIONS = {
  vendor: { type: "string", multiple: true },
  "no-mutations": { type: "boolean", default: false },
} as const;

const given = readProgram(OPTIONS, { program: "npm run vendors:prove --", help: HELP }, ({ values }) => values);

if (given !== undefined) {
  const vendors = given.vendor ?? vendorsThatAreOn();
  const proof = await proveVendors({ vendors, mutations: !given["no-mutations"], say });
  process.stdout.write(`${report(proof)}\n`);
  process.exitCode = isGoodEnough(proof) ? 0 : 1;
}
