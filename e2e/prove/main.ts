/**
 * `npm run vendors:prove`. Exits with 1 when a vendor fails, when fewer than 95 % of the wrong facts
 * are noticed in all, or fewer than 80 % of one kind.
 */
import { readProgram, say, wholeNumber } from "../support/program.ts";
import { proveVendors, sampleOf, vendorsThatAreOn } from "./prove.ts";
import { isGoodEnough, report } from "./report.ts";

const HELP = `Usage: npm run vendors:prove [-- OPTIONS]

Each vendor that is on is connected, refreshed, revoked and refused through the broker, against a
simulator made from its entry; then every fact of the broker's copy is made wrong, one at a time.

  --vendor ID      this one only; may be repeated, and may be one that is off
  --sample COUNT   that many, chosen by the seed
  --seed TEXT      default: "fixed"
  --no-mutations   the journeys alone
  -h, --help       this text
  -v, --version    the version
`;

const OPTIONS = {
  vendor: { type: "string", multiple: true },
  sample: { type: "string" },
  seed: { type: "string", default: "fixed" },
  "no-mutations": { type: "boolean", default: false },
} as const;

const given = readProgram(OPTIONS, { program: "npm run vendors:prove --", help: HELP }, ({ values }) => ({
  ...values,
  sample: values.sample === undefined ? undefined : wholeNumber("--sample", values.sample),
}));

if (given !== undefined) {
  const on = vendorsThatAreOn();
  const { vendor: chosen = on, sample, seed } = given;
  const vendors = sample === undefined ? chosen : sampleOf(chosen, sample, seed);
  const proof = await proveVendors({ vendors, mutations: !given["no-mutations"], say });
  process.stdout.write(`${report(proof)}\n`);
  process.exitCode = isGoodEnough(proof) ? 0 : 1;
}
