/** The broker, for tests that send it raw bytes. No flow begins, and no vendor is asked. */
import { type BrokerProcessOptions, startBrokerProcess } from "./process.ts";
import { brokerYaml, createSecrets } from "./configuration.ts";
import { SHORT_IDLE_SECONDS } from "./short-waits.ts";
import { freePort } from "../free-port.ts";
import { send } from "./platform.ts";

export const FORM = "Content-Type: application/x-www-form-urlencoded";

export type HttpBroker = Awaited<ReturnType<typeof startHttpBroker>>;
export async function startHttpBroker(entry: BrokerProcessOptions["entry"] = "short-waits") {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const [secrets, issuer] = [createSecrets(), "http://127.0.0.1:9"];
  const yaml = brokerYaml({ baseUrl, secrets, issuer, idleSeconds: SHORT_IDLE_SECONDS });
  const process = await startBrokerProcess({ entry, yaml });
  return {
    process,
    port,
    /** The head of a request to it, with the empty line. */
    head: (requestLine: string, ...headers: string[]) =>
      [requestLine, `Host: 127.0.0.1:${port}`, ...headers, "", ""].join("\r\n"),
    /**
     * The next request is answered, after anything that was sent before.
     * @returns its status
     */
    health: async () => (await send(`${baseUrl}/readyz`)).status,
    close: () => process.stop(),
  };
}
