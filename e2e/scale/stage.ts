/** Folders, the vendor and the AWS engines of a run, and that all of it ends. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../bench/server-process.ts";
import type { EngineCalls, Engines } from "../bench/store-engines.ts";
import { startWorker, type Worker } from "../bench/store-worker.ts";
import { ROOT } from "../support/paths.ts";

const STUB_VENDOR = join(ROOT, "packages", "simulators", "src", "stub-vendor.ts");

interface Stoppable {
  stop(): Promise<void>;
}

export interface Stage {
  /** @returns a new folder */
  folder(name: string): string;
  /** Adds a server that is measured, to be stopped first; returns it. */
  add<T extends Stoppable>(server: T): T;
  /** Adds what servers have connections to, to be stopped after them; returns it. */
  addBehind<T extends Stoppable>(one: T): T;
}

/** Runs a part, and ends everything it started. */
export async function onStage<T>(run: (stage: Stage) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "oauth-broker-scale-"));
  const servers: Stoppable[] = [];
  const behind: Stoppable[] = [];
  try {
    return await run({
      folder: (name) => {
        const path = join(root, name);
        mkdirSync(path);
        return path;
      },
      add: (server) => {
        servers.push(server);
        return server;
      },
      addBehind: (one) => {
        behind.push(one);
        return one;
      },
    });
  } finally {
    await Promise.allSettled(servers.map((server) => server.stop()));
    for (const one of behind.toReversed()) await one.stop().catch(() => undefined);
    rmSync(root, { recursive: true, force: true });
  }
}

/** @returns the URL of a vendor that costs next to nothing, in a process of its own */
export async function startStubVendor(stage: Stage): Promise<string> {
  const server = await startServer({ name: "vendor", args: [STUB_VENDOR], folder: stage.folder("vendor") });
  return stage.addBehind(server).url;
}

/** DynamoDB and KMS in a process of their own: dynalite, or the engine at DYNAMODB_LOCAL_ENDPOINT. */
export function startEngines(stage: Stage): Worker<EngineCalls> {
  const local = process.env["DYNAMODB_LOCAL_ENDPOINT"];
  const env = local === undefined ? {} : { DYNAMODB_LOCAL_ENDPOINT: local };
  return stage.addBehind(startWorker<EngineCalls>("store-engines.ts", { env }));
}

/** For a process that uses the engines; nothing of this machine's settings. */
export function awsEnvironment({ kmsEndpoint }: Pick<Engines, "kmsEndpoint">): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: "scale",
    AWS_SECRET_ACCESS_KEY: "scale",
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_ENDPOINT_URL_KMS: kmsEndpoint,
  };
}
