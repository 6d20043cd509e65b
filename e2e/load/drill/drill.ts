/**
 * The drill: what happens to a deployment in its life, each under load, with what its clients are
 * promised in the meantime.
 */
import { copyFileSync, rmSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bundles, startDeployment, startSqliteDeployment } from "./deployment.ts";
import { type Operation, type Promised, type Tally, tally, type Window } from "./ledger.ts";
import { type Load, startLoad } from "./load.ts";

export const FULL = {
  brokers: 3,
  servers: 3,
  /** Back to the release before and forward again, beside forward once. */
  rollsBack: true,
  clients: { flow: 4, refresh: 4, call: 6 },
  pauseMs: 100,
  /** How long the table, and then KMS, is away. */
  outageSeconds: 20,
  /** Until a new key is in use: 60 in a running broker. */
  rotationSeconds: 70,
  /** After an outage: clients that wait come back, and calls under way meet their deadline. */
  settleSeconds: 3,
  /** Of load before, between and after the windows. */
  calmSeconds: 5,
};
export type DrillSize = Readonly<typeof FULL>;

/** A call that has refreshed its vendor token waits up to 20 s for its new tokens to be stored. */
const STORING_MS = 25_000;
const STORING = ", 25 s for a call that has new tokens to store";

const NOTHING: Promised = { text: "every request is answered", withinMs: 10_000 };
const EVERYTHING: readonly Operation[] = ["flow", "refresh", "call"];

/**
 * @param previous the release before; the deployment starts and ends with it
 * @param say prints a line of progress
 */
export async function runDrill(
  { previous, current, size }: { readonly previous: Bundles; readonly current: Bundles; readonly size: DrillSize },
  say: (line: string) => void,
): Promise<readonly Tally[]> {
  say(`starting ${size.brokers} brokers and ${size.servers} MCP servers of the release before`);
  const deployment = await startDeployment(previous, size);
  const { brokers, servers, aws } = deployment;
  const load = startLoad(deployment, size);
  const { windows, during, calm } = createWindows(size, say);
  const rollTo = async ({ broker, mcp }: Bundles): Promise<void> => {
    await brokers.rollTo(broker);
    await servers.rollTo(mcp);
  };
  try {
    await calm();
    await during("roll forward", NOTHING, async () => rollTo(current));
    if (size.rollsBack) {
      await during("roll back", NOTHING, async () => rollTo(previous));
      await during("roll forward again", NOTHING, async () => rollTo(current));
    }
    await during("every key rotates", NOTHING, async () => {
      await deployment.command("keys", "rotate");
      aws.kms.rotateKey(aws.keyArn);
      await sleep(size.rotationSeconds * 1000);
    });
    const away: Promised = {
      text: `503 with Retry-After within 8 s${STORING}; what was under way when it went may have been spent`,
      deferred: EVERYTHING,
      // The table has made a write, and its answer is gone: each client has one request under way.
      lost: size.clients.flow + size.clients.refresh + size.clients.call,
      withinMs: 8_000,
      storedWithinMs: STORING_MS,
    };
    await during("the table is away", away, async () => {
      aws.proxy.set({ down: true });
      await sleep(size.outageSeconds * 1000);
      aws.proxy.set({});
      await sleep(size.settleSeconds * 1000);
    });
    const withoutKms: Promised = {
      text: `brokers notice nothing; calls that need a key: 503 with Retry-After within 10 s${STORING}`,
      deferred: ["call"],
      withinMs: 10_000,
      storedWithinMs: STORING_MS,
    };
    await during("KMS is away", withoutKms, async () => {
      aws.kms.fault({ kind: "unavailable" });
      await sleep(size.outageSeconds * 1000);
      aws.kms.fault(undefined);
      await sleep(size.settleSeconds * 1000);
    });
    const killed: Promised = {
      text: "only requests at the killed process are cut; a refresh it was making: 503 with Retry-After, then anew",
      cut: true,
      deferred: ["refresh", "call"],
      withinMs: 20_000,
    };
    const fleets = size.servers > 1 ? [brokers, servers] : [brokers];
    await during("kill -9 of one process", killed, async () => {
      const replace = await Promise.all(fleets.map((fleet) => fleet.kill()));
      await sleep(size.calmSeconds * 1000);
      for (const start of replace) await start();
    });
  } finally {
    await stopAll(load, deployment);
  }
  return tally(load.seen(), windows);
}

/** The store of a broker on SQLite is copied while in use, and put back later, as docs/storage-schema.md says. */
export async function runRestoreDrill(size: DrillSize, say: (line: string) => void): Promise<readonly Tally[]> {
  say("starting a broker on a SQLite file");
  const deployment = await startSqliteDeployment();
  const load = startLoad(deployment, size);
  const { windows, during, calm } = createWindows(size, say);
  const copy = `${deployment.file}.copy`;
  try {
    await calm();
    await during("a copy is made", NOTHING, async () => {
      const database = new DatabaseSync(deployment.file, { readOnly: true });
      await backup(database, copy);
      database.close();
      await calm();
    });
    const restored: Promised = {
      text: "connections go on; flows that began after the copy start anew",
      cut: true,
      withinMs: 10_000,
    };
    await during("the copy is put back", restored, async () => {
      await deployment.whileDown(() => {
        for (const suffix of ["", "-wal", "-shm"]) rmSync(`${deployment.file}${suffix}`, { force: true });
        copyFileSync(copy, deployment.file);
      });
      await sleep(size.settleSeconds * 1000);
    });
  } finally {
    await stopAll(load, deployment);
  }
  return tally(load.seen(), windows);
}

/** A client that met a defect of the drill throws at `stop`. */
async function stopAll(load: Load, deployment: { stop(): Promise<void> }): Promise<void> {
  try {
    await load.stop();
  } finally {
    await deployment.stop();
  }
}

function createWindows(
  size: DrillSize,
  say: (line: string) => void,
): {
  readonly windows: readonly Window[];
  readonly during: (name: string, promised: Promised, act: () => Promise<void>) => Promise<void>;
  readonly calm: () => Promise<void>;
} {
  const windows: Window[] = [];
  const calm = async (): Promise<void> => {
    await sleep(size.calmSeconds * 1000);
  };
  return {
    windows,
    calm,
    during: async (name, promised, act) => {
      say(name);
      const from = performance.now();
      await act();
      windows.push({ name, promised, from, to: performance.now() });
      await calm();
    },
  };
}
