/**
 * Proves vendors of the registry against simulators made from their entries: every step of the
 * journey, and then the same journey with one fact in the broker's copy wrong at a time, which some
 * step has to notice. Green says that the broker does what an entry says, not that the entry is
 * true; only an account is answered as others have seen it, if a witness states it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@oauth-broker/oauth-core";
import { memberAt } from "@oauth-broker/oauth-core/vendor-client";
import { REGISTRY, type RegistryEntry, type Vendor } from "@oauth-broker/oauth-core/registry";
import { MISFITS, readWitnesses } from "@oauth-broker/oauth-core/testing";
import {
  type AccountWitness,
  type Entry,
  idleFactsOf,
  type Mutant,
  mutantsOf,
  readEntries,
  startEntryProxy,
} from "@oauth-broker/simulators/entry-vendor";
import { ROOT } from "../support/paths.ts";
import { forgetSecrets } from "../support/secrets.ts";
import { errorTable } from "./errors.ts";
import { liveSteps } from "./live.ts";
import { createLoopbackEgress } from "./loopback-network.ts";
import { setStage, type Stage, type Theatre, tokensOf, toToken } from "./stage.ts";
import { type Seen, STEPS } from "./steps.ts";

/** Where a journey ended that did not pass. */
export interface Failure {
  readonly vendor: string;
  readonly step: string;
  readonly why: string;
  /** What the simulated vendor refused in that step. */
  readonly refused: readonly string[];
}

/** How many wrong copies of one kind of fact there were. */
export interface KindCount {
  readonly total: number;
  /** Vendor, fact and what was wrong, of those that no step noticed. */
  readonly missed: readonly string[];
}

/** Which vendors, and how much. */
export interface ProofOptions {
  readonly vendors: readonly string[];
  readonly mutations: boolean;
  /** Receives a line now and then. */
  readonly say?: (line: string) => void;
}

const CATALOGUE = join(ROOT, "packages/oauth-core/src/registry/catalogue.json");

/** @returns the ids of the vendors that are on, in alphabetical order */
export function vendorsThatAreOn(): string[] {
  return [...REGISTRY.values()].flatMap(({ vendor }) => (vendor.enabled ? [vendor.id] : [])).toSorted();
}

/** Accounts that an entry calls, by the id of the entry. */
function witnessedAccounts(): Map<string, AccountWitness> {
  const accounts = readWitnesses().flatMap(({ id, account }): [string, AccountWitness][] => {
    if (typeof account?.identity !== "string" || Object.hasOwn(MISFITS, `${id} account`)) return [];
    const user = memberAt(account.shape as JsonObject, account.identity);
    return typeof user === "string" || typeof user === "number" ? [[id, { body: account.shape, user: `${user}` }]] : [];
  });
  return new Map(accounts);
}

/** The outcome for some vendors. */
export type Proof = Awaited<ReturnType<typeof proveVendors>>;
/** @throws Error for a vendor that the registry does not have */
export async function proveVendors(options: ProofOptions) {
  const { vendors, mutations, say = () => undefined } = options;
  const entries = readEntries(readFileSync(CATALOGUE, "utf8"), witnessedAccounts());
  const proxy = await startEntryProxy();
  const egress = createLoopbackEgress(proxy.port);
  const theatre: Theatre = { proxy, egress };
  const failures: Failure[] = [];
  const counts = createCounts();
  try {
    for (const [index, id] of vendors.entries()) {
      const [entry, known] = [entries.get(id), REGISTRY.get(id)];
      if (entry === undefined || known === undefined) throw new Error(`the registry has no vendor ${id}`);
      // One that is off is proved as an operator would turn it on.
      const copy = { ...known, vendor: { ...known.vendor, enabled: true } };
      const failure = await travel(entry, copy, theatre);
      if (failure !== undefined) failures.push(failure);
      else if (mutations) await mutate(entry, copy, theatre, counts);
      if ((index + 1) % 20 === 0) say(`${index + 1} of ${vendors.length} vendors`);
    }
  } finally {
    await egress.close();
    await proxy.close();
  }
  return { vendors, failures, ...counts };
}

function createCounts() {
  return {
    /** By kind of fact; empty without mutations. */
    kinds: new Map<string, KindCount>(),
    /** How many wrong copies each step noticed. */
    steps: new Map<string, number>(),
    /** Facts that change nothing in their entry, with the reason. */
    idle: [] as string[],
  };
}

async function mutate(
  entry: Entry,
  copy: RegistryEntry,
  theatre: Theatre,
  { kinds, steps, idle }: ReturnType<typeof createCounts>,
): Promise<void> {
  idle.push(...idleFactsOf(entry));
  for (const mutant of mutantsOf(entry)) {
    const failure = await travel(entry, wrongCopy(copy, mutant), theatre);
    const { total, missed } = kinds.get(mutant.kind) ?? { total: 0, missed: [] };
    if (failure !== undefined) steps.set(failure.step, (steps.get(failure.step) ?? 0) + 1);
    const name = `${entry.facts.id} ${mutant.fact}: ${mutant.what}`;
    kinds.set(mutant.kind, { total: total + 1, missed: failure === undefined ? [...missed, name] : missed });
  }
}

/** The frozen facts stay as they are: the mutation is in the broker's copy alone. */
function wrongCopy(copy: RegistryEntry, { fact, value }: Mutant): RegistryEntry {
  if (fact === "placeholders") {
    const specs = Object.entries(value as Readonly<Record<string, object>>).map(([name, spec]) => {
      const { kind } = copy.placeholders[name] ?? {};
      return [name, { ...(kind === undefined ? {} : { kind }), ...spec }] as const;
    });
    return { ...copy, placeholders: Object.fromEntries(specs) };
  }
  const { [fact as keyof Vendor]: _, ...rest } = copy.vendor;
  return {
    ...copy,
    vendor: (value === undefined ? { ...emptyOf(fact), ...rest } : { ...rest, [fact]: value }) as Vendor,
  };
}

/** Members that an entry always has are empty if they say nothing. */
function emptyOf(fact: string): object {
  const records = ["parameterNames", "authorizationParams", "tokenResponseNames", "tokenErrors", "callbackErrors"];
  return records.includes(fact) ? { [fact]: {} } : {};
}

/** @returns the first step that fails; undefined when all pass */
async function travel(entry: Entry, copy: RegistryEntry, theatre: Theatre): Promise<Failure | undefined> {
  const { id } = entry.facts;
  let stage: Stage | undefined;
  let step = "start";
  let refusedBefore = 0;
  try {
    stage = await setStage(entry, copy, theatre);
    const seen: Seen = {};
    for (const [name, run] of [...STEPS, ["errors", errorTable] as const, ...liveSteps(entry)]) {
      step = name;
      refusedBefore = stage.vendor.refusals().length;
      await run(stage, seen);
    }
    step = "certificate";
    refusedBefore = 0;
    if (entry.facts.clientAssertion !== undefined) {
      stage = await setStage(entry, copy, theatre, "certificate");
      tokensOf(await toToken(stage));
    }
    return undefined;
  } catch (error) {
    const refused = [
      ...(stage?.vendor.refusals().slice(refusedBefore) ?? []),
      ...theatre.proxy.strangers().map((host) => `${host} is no host of this vendor`),
    ];
    return { vendor: id, step, why: error instanceof Error ? error.message : String(error), refused };
  } finally {
    // No output is searched for those of a journey, and there are thousands.
    forgetSecrets();
  }
}
