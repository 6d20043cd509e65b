/**
 * The drill: what happens to a deployment in its life, each under load, with what its clients are
 * promised in the meantime.
 */
import { startFakeVendor } from "@oauth-broker/simulators";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { startAws } from "../../support/aws/aws.ts";
import { runBrokerCommand } from "../../support/broker/process.ts";
import { onStage } from "../stage.ts";
import { type Bundles, startBrokers, startServers, THIS_BUILD } from "./fleet.ts";
import { type Operation, type Promised, type Tally, tally, type Window } from "./ledger.ts";
import { startLoad, type Targets } from "./load.ts";

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

/** Vendor tokens last this long, so that every drill meets refreshes. */
const LIFETIME_SECONDS = 20;

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
  return onStage(async (stage) => {
    const aws = stage.addBehind(await startAws());
    const { url: vendorUrl } = stage.addBehind(
      await startFakeVendor({ codes: "named", lifetimeSeconds: LIFETIME_SECONDS }),
    );
    const { keys, env } = aws;
    const ofBrokers = { processes: size.brokers, bundle: previous.broker, store: await aws.newStore(), keys, env };
    const { target: broker, folder, fleet: brokers } = await startBrokers({ ...ofBrokers, vendorUrl }, stage);
    const ofServers = { processes: size.servers, bundle: previous.mcp, vendorUrl };
    const { target: mcp, fleet: servers } = await startServers(ofServers, aws, stage);
    const rollTo = async (build: Bundles): Promise<void> => {
      await brokers.rollTo(build.broker);
      await servers.rollTo(build.mcp);
    };
    return underLoad({ broker, mcp }, size, say, async (during) => {
      await during("roll forward", NOTHING, () => rollTo(current));
      if (size.rollsBack) {
        await during("roll back", NOTHING, () => rollTo(previous));
        await during("roll forward again", NOTHING, () => rollTo(current));
      }
      await during("every key rotates", NOTHING, async () => {
        const { code, stderr } = await runBrokerCommand(["keys", "rotate"], folder, { env });
        if (code !== 0) throw new Error(`broker keys rotate ended with ${code}:\n${stderr}`);
        aws.kms.rotateKey(aws.keyArn);
        await seconds(size.rotationSeconds);
      });
      const away: Promised = {
        text: `503 with Retry-After within 8 s${STORING}; what was under way when it went may have been spent`,
        deferred: EVERYTHING,
        // The table has made a write, and its answer is gone: each client has one request under way.
        lost: size.clients.flow + size.clients.refresh + size.clients.call,
        withinMs: 8_000,
        storedWithinMs: STORING_MS,
      };
      const outage = async (set: (isAway: boolean) => void): Promise<void> => {
        set(true);
        await seconds(size.outageSeconds);
        set(false);
        await seconds(size.settleSeconds);
      };
      await during("the table is away", away, () => outage((down) => aws.proxy.set({ down })));
      const withoutKms: Promised = {
        text: `brokers notice nothing; calls that need a key: 503 with Retry-After within 10 s${STORING}`,
        deferred: ["call"],
        withinMs: 10_000,
        storedWithinMs: STORING_MS,
      };
      await during("KMS is away", withoutKms, () =>
        outage((isAway) => aws.kms.fault(isAway ? { kind: "unavailable" } : undefined)),
      );
      const killed: Promised = {
        text: "only requests at the killed process are cut; a refresh it was making: 503 with Retry-After, then anew",
        cut: true,
        deferred: ["refresh", "call"],
        withinMs: 20_000,
      };
      await during("kill -9 of one process", killed, async () => {
        const replace = await Promise.all([brokers.kill(), servers.kill()]);
        await seconds(size.calmSeconds);
        for (const start of replace) await start();
      });
    });
  });
}

/** The store of a broker on SQLite is copied while in use, and put back later, as docs/storage-schema.md says. */
export async function runRestoreDrill(size: DrillSize, say: (line: string) => void): Promise<readonly Tally[]> {
  say("starting a broker on a SQLite file");
  return onStage(async (stage) => {
    const { url: vendorUrl } = stage.addBehind(await startFakeVendor({ codes: "named" }));
    const place = { store: "sqlite:./broker.sqlite", keys: "store", vendorUrl };
    const { target, folder, fleet } = await startBrokers({ processes: 1, bundle: THIS_BUILD.broker, ...place }, stage);
    const file = join(folder, "broker.sqlite");
    const copy = `${file}.copy`;
    return underLoad({ broker: target }, size, say, async (during) => {
      await during("a copy is made", NOTHING, async () => {
        const database = new DatabaseSync(file, { readOnly: true });
        await backup(database, copy);
        database.close();
        await seconds(size.calmSeconds);
      });
      const restored: Promised = {
        text: "connections go on; flows that began after the copy start anew",
        cut: true,
        withinMs: 10_000,
      };
      await during("the copy is put back", restored, async () => {
        await fleet.whileDown(() => {
          for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
          copyFileSync(copy, file);
        });
        await seconds(size.settleSeconds);
      });
    });
  });
}

type During = (name: string, promised: Promised, act: () => Promise<void>) => Promise<void>;

/** @throws Error also when a client met a defect of the drill */
async function underLoad(
  targets: Targets,
  size: DrillSize,
  say: (line: string) => void,
  run: (during: During) => Promise<void>,
): Promise<readonly Tally[]> {
  const load = startLoad(targets, size);
  const windows: Window[] = [];
  try {
    await seconds(size.calmSeconds);
    await run(async (name, promised, act) => {
      say(name);
      const from = performance.now();
      await act();
      windows.push({ name, promised, from, to: performance.now() });
      await seconds(size.calmSeconds);
    });
  } finally {
    await load.stop();
  }
  return tally(load.seen, windows);
}

async function seconds(count: number): Promise<void> {
  await sleep(count * 1000);
}
