/** The processes of the store's bench: one client, and the engines behind it. */
import type { ClientCalls } from "./client.ts";
import type { EngineCalls, Engines } from "./engines.ts";
import { startWorker, type Worker } from "./worker.ts";

export interface StoreHarness {
  readonly client: Worker<ClientCalls>;
  readonly worker: Worker<EngineCalls>;
  /** The engines of the worker, behind the client's subjects. */
  readonly engines: Engines;
  /** Ends them all. */
  stop(): Promise<void>;
}

/** For the SDK, which signs with them; the signature is not checked. */
const CREDENTIALS = { AWS_ACCESS_KEY_ID: "bench", AWS_SECRET_ACCESS_KEY: "bench", AWS_EC2_METADATA_DISABLED: "true" };

export async function startStoreHarness(): Promise<StoreHarness> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    // The client first: it has connections to the others.
    for (const worker of started) await worker.stop();
  };
  try {
    const client = startWorker<ClientCalls>("client.ts", { flags: ["--expose-gc"], env: CREDENTIALS });
    started.push(client);
    const local = process.env["DYNAMODB_LOCAL_ENDPOINT"];
    const env = local === undefined ? {} : { env: { DYNAMODB_LOCAL_ENDPOINT: local } };
    const worker = startWorker<EngineCalls>("engines.ts", env);
    started.push(worker);
    return { client, worker, engines: await worker.call("open"), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
