/** The broker, for tests that send it raw bytes. No flow begins, and no vendor is asked. */
import { type BrokerProcess, type BrokerProcessOptions, startBrokerProcess } from "./process.ts";
import { brokerYaml, createSecrets } from "./configuration.ts";
import { SHORT_IDLE_SECONDS } from "./short-waits.ts";
import { freePort } from "../free-port.ts";
import { send } from "./platform.ts";

export interface HttpBroker {
  readonly process: BrokerProcess;
  readonly port: number;
  /** The head of a request to it, with the empty line. */
  head(requestLine: string, ...headers: string[]): string;
  /**
   * The next request is answered, after anything that was sent before.
   * @returns its status
   */
  health(): Promise<number>;
  close(): Promise<void>;
}

export const FORM = "Content-Type: application/x-www-form-urlencoded";

export async function startHttpBroker(entry: BrokerProcessOptions["entry"] = "short-waits"): Promise<HttpBroker> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const yaml = brokerYaml({
    baseUrl,
    secrets: createSecrets(),
    issuer: "http://127.0.0.1:9",
    idleSeconds: SHORT_IDLE_SECONDS,
  });
  const process = await startBrokerProcess({ entry, yaml });
  return {
    process,
    port,
    head: (requestLine, ...headers) => [requestLine, `Host: 127.0.0.1:${port}`, ...headers, "", ""].join("\r\n"),
    health: async () => (await send(`${baseUrl}/readyz`)).status,
    close: () => process.stop(),
  };
}
