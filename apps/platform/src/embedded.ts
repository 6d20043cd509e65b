/**
 * The platform inside another program: the broker's sandbox, which shows it with a connector to
 * each practice vendor. Its records are in memory and end with the process.
 */
import { systemClock } from "@oauth-broker/oauth-core";
import { listen, type Listening, type Log } from "@oauth-broker/service";
import { localKeyWrapper } from "@oauth-broker/token-store";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import type { Hono } from "hono";
import { createPlatform, type PlatformOptions } from "./app.ts";
import { createConnectorStore } from "./connectors/store-on-records.ts";
import type { NewConnector } from "./connectors/connector.ts";
import { SHARED_CALLBACK } from "./oauth/redirect-uri.ts";

export type { NewConnector } from "./connectors/connector.ts";

export interface EmbeddedOptions extends Required<Pick<PlatformOptions, "timeline">> {
  readonly broker: NonNullable<PlatformOptions["broker"]>;
  /** Seals the users' tokens; made at the first use. */
  readonly keyFile: string;
  /** Its port the last time; taken again if it is free. */
  readonly lastPort: number | undefined;
}

export type EmbeddedPlatform = Awaited<ReturnType<typeof startPlatform>>;

export async function startPlatform({ broker, timeline, keyFile, lastPort }: EmbeddedOptions, log: Log) {
  // Its address is known once it listens.
  let answer: Hono["fetch"] = () => new Response(undefined, { status: 503 });
  const { port, stop } = await listenAt({ fetch: (...request) => answer(...request) }, lastPort);
  const platformUrl = `http://127.0.0.1:${port}`;
  const now = systemClock;
  const allowCidrs: readonly string[] = [];
  const records = memoryRecordStore({ now });
  const keys = localKeyWrapper({ path: keyFile });
  const connectors = createConnectorStore({ records, keys, now, rules: { allowCidrs } });
  const platform = createPlatform(
    { platformUrl, allowCidrs, broker, timeline },
    { storage: { connectors, records, keys }, log, now },
  );
  answer = platform.app.fetch;
  return {
    /** What to open. */
    url: platformUrl,
    /** To be on the client's exact list at the broker. */
    redirectUri: platformUrl + SHARED_CALLBACK,
    add: async (connector: NewConnector): Promise<void> => void (await connectors.create(connector)),
    close: async (): Promise<void> => {
      await stop(0);
      await platform.close();
    },
  };
}

/** Another program may have taken the port in the meantime: then any free one. */
async function listenAt(app: Pick<Hono, "fetch">, port = 0): Promise<Listening> {
  const host = "127.0.0.1";
  return listen(app, { host, port }).catch(() => listen(app, { host, port: 0 }));
}
