/** `vendor probe`: checks without credentials whether a vendor still matches its entry. */
import { defined } from "@oauth-broker/oauth-core";
import type { ResolvedVendor, Vendor } from "@oauth-broker/oauth-core/registry";
import { dateOf } from "../date.ts";
import type { Discovered, DiscoveryDeps } from "./discovery.ts";
import { withEgress, type Environment } from "../environment.ts";
import type { Finding } from "../finding.ts";
import { type Choice, knownVendor } from "../known-vendor.ts";
import { endpointProbes } from "./probe-endpoints.ts";
import { probeMetadata } from "./probe-metadata.ts";
import { NOT_ASKED, WRONG } from "../refusal.ts";

interface ProbeOptions extends Omit<Choice, "id"> {
  readonly ids: readonly string[];
  readonly json: boolean;
}

interface Probed {
  readonly vendor: string;
  readonly askedOn: string;
  /** When the facts of the entry were checked. */
  readonly checkedOn: string;
  readonly result: "same" | "drift" | "unasked";
  readonly findings: readonly Finding[];
}

/** @returns the exit code: 1 when any vendor has drifted, else 2 when any could not be checked */
export async function runProbe({ ids, json, ...choice }: ProbeOptions, environment: Environment): Promise<number> {
  // Resolves all vendors first: invalid arguments send nothing.
  const known = ids.map((id) => knownVendor({ ...choice, id }));
  const probed = await withEgress(choice.loopback, ({ fetch }) =>
    Promise.all(
      known.map(async ({ entry, vendor }): Promise<Probed> => {
        const deps = { fetch, now: environment.now, allowLoopback: choice.loopback };
        const findings = await probe(vendor, deps, (check) => environment.tell(`${vendor.id}: ${check}`));
        const { checkedOn } = entry.verification;
        const askedOn = dateOf(environment.now);
        return { vendor: vendor.id, askedOn, checkedOn, result: resultOf(findings), findings };
      }),
    ),
  );
  if (json) environment.print(JSON.stringify({ vendors: probed }, null, 2));
  else for (const one of probed) show(one, environment);
  const results = probed.map(({ result }) => result);
  return results.includes("drift") ? WRONG : results.includes("unasked") ? NOT_ASKED : 0;
}

async function probe(vendor: Vendor, deps: DiscoveryDeps, onCheck: (check: string) => void): Promise<Finding[]> {
  onCheck("metadata");
  const { findings, discovered } = await probeMetadata(vendor, deps);
  const resolved = withEndpoints(vendor, discovered);
  if (resolved === undefined) return [...findings];
  const all = [...findings];
  for (const { check, ask } of endpointProbes(resolved, deps)) {
    onCheck(check);
    // One after the other: the recorder assigns answers by order, and a vendor should not get
    // bursts.
    all.push(await ask());
  }
  return all;
}

/**
 * The entry, and what it leaves to discovery.
 * @returns undefined when no address is known
 */
function withEndpoints(vendor: Vendor, discovered: Discovered | undefined): ResolvedVendor | undefined {
  const { authorizationEndpoint, tokenEndpoint } = { ...discovered?.resolved, ...vendor };
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) return undefined;
  const jwksUri = vendor.jwksUri ?? discovered?.resolved.jwksUri;
  return { ...vendor, authorizationEndpoint, tokenEndpoint, issExpected: false, ...defined({ jwksUri }) };
}

function resultOf(findings: readonly Finding[]): Probed["result"] {
  const has = (result: Finding["result"]): boolean => findings.some((finding) => finding.result === result);
  return has("drift") ? "drift" : has("unasked") ? "unasked" : "same";
}

const MARKS: Readonly<Record<Finding["result"], string>> = {
  same: "ok     ",
  drift: "drift  ",
  note: "-      ",
  unasked: "?      ",
};
const CLOSING: Readonly<Record<Probed["result"], string>> = {
  same: "no drift",
  drift: "has drifted from its entry",
  unasked: "could not be checked completely",
};

function show({ vendor, checkedOn, result, findings }: Probed, { print }: Environment): void {
  for (const { check, result: one, text } of findings) print(`${MARKS[one]}${check}: ${text}`);
  print(`${vendor}: ${CLOSING[result]} (facts of ${checkedOn})`);
}
