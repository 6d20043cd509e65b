/** All vendors that are on, and every fact of theirs made wrong: `npm run vendors:prove`. */
import { expect, it } from "vitest";
import { proveVendors, vendorsThatAreOn } from "../prove/prove.ts";
import { isGoodEnough, report } from "../prove/report.ts";

it("every vendor that is on passes, and wrong facts are noticed", { timeout: 1_800_000 }, async () => {
  const proof = await proveVendors({ vendors: vendorsThatAreOn(), mutations: true });
  console.log(report(proof));
  expect(proof.failures).toEqual([]);
  expect(isGoodEnough(proof)).toBe(true);
});
