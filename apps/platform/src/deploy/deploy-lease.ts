/**
 * Allows one deploy of a connector at a time, over all processes that share the data folder. The
 * lease is held and renewed while the deploy runs its server. It is free when its process has ended
 * or has not renewed it.
 */
import type { Clock, EpochSeconds, RecordStore } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";

export interface LeaseDeps {
  readonly records: RecordStore;
  readonly now: Clock;
  /** Whether a process of this machine is alive. */
  readonly isAlive: (pid: number) => boolean;
}

export interface Holder {
  readonly pid: number;
  readonly since: EpochSeconds;
}

export type Lease = ReturnType<typeof hold>;

const LIFETIME_SECONDS = 45;
const RENEW_MS = 10_000;
const HELD = "held";
const keyOf = (connectorId: string) => ({ kind: "deploy", id: connectorId });

/** @returns the lease, or its present holder */
export async function takeLease(
  connectorId: string,
  pid: number,
  deps: LeaseDeps,
): Promise<{ readonly lease: Lease } | { readonly holder: Holder }> {
  const { records, now, isAlive } = deps;
  const key = keyOf(connectorId);
  const holder = randomToken(16);
  const expiresAt = now() + LIFETIME_SECONDS;
  const data = { v: 1, holder, pid, since: now() };
  if ((await records.create({ key, stage: HELD, data, expiresAt })) === "created")
    return { lease: hold(key, holder, deps) };
  const found = await records.get(key);
  if (found === undefined) return takeLease(connectorId, pid, deps);
  const other: Holder = { pid: Number(found.data["pid"]), since: Number(found.data["since"]) };
  if (isAlive(other.pid)) return { holder: other };
  // Its process has ended: of several deploys that notice, one takes the lease over.
  const expect = { holder: found.data["holder"] as string };
  const { outcome } = await records.advance(key, { stage: HELD, expect }, { stage: HELD, set: data, expiresAt });
  return outcome === "moved" ? { lease: hold(key, holder, deps) } : takeLease(connectorId, pid, deps);
}

/** @returns the deploy that holds the connector now; undefined when it is free */
export async function holderOf(
  connectorId: string,
  { records, isAlive }: Omit<LeaseDeps, "now">,
): Promise<Holder | undefined> {
  const found = await records.get(keyOf(connectorId));
  const pid = Number(found?.data["pid"]);
  return found !== undefined && isAlive(pid) ? { pid, since: Number(found.data["since"]) } : undefined;
}

/** On this machine, of any user. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function hold(key: ReturnType<typeof keyOf>, first: string, { records, now }: LeaseDeps) {
  const lost = Promise.withResolvers<void>();
  let holder = first;
  let writing = Promise.resolve();
  const write = async (expiresAt: EpochSeconds): Promise<void> => {
    const next = randomToken(16);
    const advanced = await records
      .advance(key, { stage: HELD, expect: { holder } }, { stage: HELD, set: { holder: next }, expiresAt })
      // The store is unavailable now: the lease outlasts a few more tries.
      .catch(() => undefined);
    if (advanced === undefined) return;
    if (advanced.outcome === "moved") holder = next;
    else lost.resolve();
  };
  const renewing = setInterval(() => {
    writing = writing.then(() => write(now() + LIFETIME_SECONDS));
  }, RENEW_MS);
  renewing.unref();
  return {
    /** Settles when the lease is lost to another: then this deploy must end. */
    lost: lost.promise,
    release: async (): Promise<void> => {
      clearInterval(renewing);
      await writing;
      // An expired record counts as absent.
      await write(now());
    },
  };
}
