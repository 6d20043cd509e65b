/** The processes of the store's bench: one client, and the engines behind it. */
import type { ClientCalls } from "./store-client.ts";
import type { EngineCalls, Engines } from "./store-engines.ts";
import { startWorker, type Worker } from "./store-worker.ts";

export interface StoreHarness {
  readonly client: Worker<ClientCalls>;
  /** Behind the client's subjects. */
  readonly main: EnginesProcess;
  /** Another process, with an empty table. */
  moreEngines(): Promise<EnginesProcess>;
  /** Stops them all. */
  stop(): Promise<void>;
}

export interface EnginesProcess {
  readonly worker: Worker<EngineCalls>;
  readonly engines: Engines;
}

/** For the SDK, which signs with them; the signature is not checked. */
const CREDENTIALS = { AWS_ACCESS_KEY_ID: "bench", AWS_SECRET_ACCESS_KEY: "bench", AWS_EC2_METADATA_DISABLED: "true" };

export async function startStoreHarness(): Promise<StoreHarness> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    // The client first: it has connections to the others.
    for (const worker of started) await worker.stop();
  };
  const moreEngines = async (): Promise<EnginesProcess> => {
    const local = process.env["DYNAMODB_LOCAL_ENDPOINT"];
    const worker = startWorker<EngineCalls>("store-engines.ts", {
      // dynalite keeps its tables in memory.
      flags: ["--max-old-space-size=16384"],
      ...(local === undefined ? {} : { env: { DYNAMODB_LOCAL_ENDPOINT: local } }),
    });
    started.push(worker);
    return { worker, engines: await worker.call("open") };
  };
  try {
    const client = startWorker<ClientCalls>("store-client.ts", { flags: ["--expose-gc"], env: CREDENTIALS });
    started.push(client);
    return { client, main: await moreEngines(), moreEngines, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
