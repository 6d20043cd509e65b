/** The stages of records that have several, and where each may go: docs/flows.md draws those of a flow. */
import type { RecordKey } from "@oauth-broker/oauth-core";
import type { Promises } from "./promises.ts";

type Drawing = Readonly<Record<string, readonly string[]>>;

const FLOW: Drawing = {
  pushed: ["started", "failed"],
  started: ["parked", "redeeming", "failed"],
  redeeming: ["parked", "failed"],
  parked: ["spent", "failed"],
  // Back if the vendor's code may still be valid.
  spent: ["parked", "redeemed", "failed"],
};

const DRAWINGS: Readonly<Record<string, Drawing>> = {
  flow: FLOW,
  authorization: FLOW,
  // It ends at the callback.
  linking: { started: ["redeeming", "failed"], redeeming: ["spent", "failed"] },
  ticket: { open: ["approved", "denied", "ended"], approved: ["linked", "denied", "ended"] },
  // A failed one is taken over by a later caller.
  refresh: { calling: ["settled", "released", "revoked"], settled: ["calling", "revoked"] },
  session: { live: ["live", "ended"] },
  client: { unused: ["used"] },
};

export function checkStage({ kind }: Pick<RecordKey, "kind">, from: string, to: string, promises: Promises): void {
  const drawing = DRAWINGS[kind];
  if (drawing !== undefined && drawing[from]?.includes(to) !== true)
    promises.broke(`a ${kind} went from ${from} to ${to}`);
}

/** The lease of a row of tokens, and how often the row was written. */
interface RowState {
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Clocks of processes differ by no more than this. */
const MOST_APART_SECONDS = 2;

/** A lease is taken from no attempt before it ends, and a row never goes back. @param now in the seconds of the rows */
export function checkRow(
  before: RowState | undefined,
  after: RowState | undefined,
  now: number,
  promises: Promises,
): void {
  const [was, is] = [before?.attributes ?? {}, after?.attributes ?? {}];
  const { lease_owner: owner, lease_until: until } = was;
  const isTaken = owner !== undefined && is["lease_owner"] !== undefined && is["lease_owner"] !== owner;
  if (isTaken && Number(until) > now + MOST_APART_SECONDS) promises.broke("a lease was taken from another attempt");
  if (Number(is["version"] ?? Infinity) < Number(was["version"] ?? 0))
    promises.broke("a row went back to older tokens");
}
