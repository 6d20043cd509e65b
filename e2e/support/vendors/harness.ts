/**
 * The broker on one vendor of its registry, pointed at that vendor's simulator as an operator would
 * do it.
 */
import type { SimulatedClient, VendorSimulator } from "@oauth-broker/simulators/vendors";
import { brokerYaml, createSecrets } from "../broker/configuration.ts";
import { freePort } from "../free-port.ts";
import { startInProcessBroker } from "../broker/in-process.ts";
import { createPlatform, type Form } from "../broker/platform.ts";
import { plantSecret } from "../secrets.ts";
import { expect } from "vitest";

export interface VendorHarnessOptions<Simulator extends VendorSimulator> {
  readonly vendor: Simulator;
  readonly scope: string;
  /** Further settings of the app at the vendor; `undefined` removes a default. */
  readonly client?: object;
  /** The broker's credentials there in YAML, instead of a secret. */
  readonly credentials?: string;
  /** Further parameters of each pushed request. */
  readonly form?: Form;
  /** Default: this vendor has approved the client's organization, if it requires approval. */
  readonly approvedVendors?: readonly string[];
}

const CLIENT_ID = "broker-at-vendor";

export type VendorHarness<Simulator extends VendorSimulator> = Awaited<
  ReturnType<typeof startVendorHarness<Simulator>>
>;
export async function startVendorHarness<Simulator extends VendorSimulator>({
  vendor,
  scope,
  client = {},
  credentials,
  form,
  approvedVendors = [vendor.id],
}: VendorHarnessOptions<Simulator>) {
  const secrets = createSecrets();
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const app: SimulatedClient = {
    clientId: CLIENT_ID,
    clientSecret: secrets.vendor,
    redirectUris: [`${baseUrl}/v1/callback`],
    name: "The Broker",
    ...client,
  };
  vendor.addClient(app);
  const fields = Object.entries(vendor.endpoints).map(([name, value]) => `    ${name}: "${value}"`);
  const broker = await startInProcessBroker(
    brokerYaml({
      baseUrl,
      secrets,
      issuer: vendor.url,
      client: `    approved_vendors: [${approvedVendors.join(", ")}]`,
      vendors: `
  ${vendor.id}:
${fields.join("\n")}
    credentials: { client_id: ${CLIENT_ID}, ${credentials ?? `client_secret: ${secrets.vendor}`} }`,
    }),
  );
  const sent = { vendor: vendor.id, scope, ...(form && { form }) };
  const platform = createPlatform({ baseUrl, clientSecret: secrets.platform, ...sent });
  return {
    vendor,
    platform,
    baseUrl,
    /** The secret of the platform at the broker. */
    clientSecret: secrets.platform,
    /** Our client at the vendor. */
    client: app,
    connect: async (...options: Parameters<typeof platform.connect>) => {
      const grant = await platform.connect(...options);
      expect(grant.body).toMatchObject({ token_type: "Bearer", vendor: vendor.id, vendor_data: expect.any(Object) });
      return grant;
    },
    refresh: platform.refresh,
    revoke: platform.revoke,
    close: async () => {
      for (const token of vendor.liveTokens()) plantSecret("token at the vendor", token);
      await broker.close();
      await vendor.close();
    },
  };
}
