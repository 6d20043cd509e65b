/** The processes of the store's bench: one client, and the engines behind it. */
import { join } from "node:path";
import type { ClientCalls } from "./client.ts";
import type { EngineCalls, Engines } from "../../engines.ts";
import { startEngines } from "../../services.ts";
import { openOnStage } from "../../stage.ts";
import { startWorker, type Worker } from "../../worker.ts";

export interface StoreHarness {
  readonly client: Worker<ClientCalls>;
  readonly worker: Worker<EngineCalls>;
  /** The engines of the worker, behind the client's subjects. */
  readonly engines: Engines;
  /** Ends them all. */
  stop(): Promise<void>;
}

const CLIENT = join(import.meta.dirname, "client.ts");
/** For the SDK, which signs with them; the signature is not checked. */
const CREDENTIALS = { AWS_ACCESS_KEY_ID: "bench", AWS_SECRET_ACCESS_KEY: "bench", AWS_EC2_METADATA_DISABLED: "true" };

export async function startStoreHarness(): Promise<StoreHarness> {
  return openOnStage(async (stage) => {
    const worker = startEngines(stage);
    const client = stage.add(startWorker<ClientCalls>(CLIENT, { flags: ["--expose-gc"], env: CREDENTIALS }));
    return { client, worker, engines: await worker.call("open") };
  });
}
