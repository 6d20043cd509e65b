/**
 * `npm run vendors:prove`. Exits with 1 when a vendor fails, when fewer than 95 % of the wrong facts
 * are noticed in all, or fewer than 80 % of one kind.
 */
import { parseArgs } from "node:util";
import { proveVendors, sampleOf, vendorsThatAreOn } from "./prove.ts";
import { isGoodEnough, report } from "./report.ts";

const HELP = `npm run vendors:prove [-- options]

Each vendor that is on is connected, refreshed, revoked and refused through the broker, against a
simulator made from its entry; then every fact of the broker's copy is made wrong, one at a time.

  --vendor ID      this one only; may be repeated, and may be one that is off
  --sample COUNT   that many, chosen by the seed
  --seed TEXT      default: "fixed"
  --no-mutations   the journeys alone
  --explain        a line for each wrong fact: which step noticed it, and by what
`;

const { values } = parseArgs({
  allowNegative: true,
  options: {
    vendor: { type: "string", multiple: true, default: [] },
    sample: { type: "string" },
    seed: { type: "string", default: "fixed" },
    mutations: { type: "boolean", default: true },
    explain: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else {
  const on = vendorsThatAreOn();
  const chosen = values.vendor.length > 0 ? values.vendor : on;
  const vendors = values.sample === undefined ? chosen : sampleOf(chosen, Number(values.sample), values.seed);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const explain = values.explain ? { explain: (line: string) => void process.stdout.write(`${line}\n`) } : {};
  const proof = await proveVendors({ vendors, mutations: values.mutations, say, ...explain });
  process.stdout.write(`${report(proof)}\n`);
  process.exitCode = isGoodEnough(proof) ? 0 : 1;
}
