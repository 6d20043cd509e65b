/** The built broker on a stub vendor, for tests that send it raw bytes. */
import { startStubVendor, type StubVendor } from "@oauth-broker/simulators";
import { type BrokerProcess, startBrokerProcess } from "./broker-process.ts";
import { brokerYaml, createSecrets, type Secrets } from "./configuration.ts";
import { freePort } from "./free-port.ts";
import { send } from "./platform.ts";

export interface HttpBroker {
  readonly process: BrokerProcess;
  readonly port: number;
  readonly baseUrl: string;
  readonly secrets: Secrets;
  readonly stub: StubVendor;
  /** The entry under `vendors:`. */
  readonly vendors: string;
  /** The head of a request to it, with the empty line. */
  head(requestLine: string, ...headers: string[]): string;
  /**
   * The next request is answered, whatever was sent before.
   * @returns its status
   */
  health(): Promise<number>;
  close(): Promise<void>;
}

export const FORM = "Content-Type: application/x-www-form-urlencoded";

export async function startHttpBroker(): Promise<HttpBroker> {
  const secrets = createSecrets();
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const stub = await startStubVendor();
  const vendors = `
  stub:
    name: Stub
    authorization_endpoint: ${stub.authorizationEndpoint}
    token_endpoint: ${stub.tokenEndpoint}
    credentials: { client_id: broker, client_secret: ${secrets.vendor} }`;
  const process = await startBrokerProcess({ yaml: brokerYaml({ baseUrl, secrets, issuer: stub.url, vendors }) });
  return {
    process,
    port,
    baseUrl,
    secrets,
    stub,
    vendors,
    head: (requestLine, ...headers) => [requestLine, `Host: 127.0.0.1:${port}`, ...headers, "", ""].join("\r\n"),
    health: async () => (await send(`${baseUrl}/readyz`)).status,
    close: async () => {
      await process.stop();
      await stub.close();
    },
  };
}
