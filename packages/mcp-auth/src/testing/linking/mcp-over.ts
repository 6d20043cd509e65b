/** `/mcp` with a fixture's own sessions and links behind it. */
import { type Fetch, systemTimer } from "@oauth-broker/oauth-core";
import { identitySource } from "../../hosted/records/identity-source.ts";
import { MAX_OPEN } from "../../hosted/tickets/tickets.ts";
import { createPause } from "../../mcp/elicitation/deps.ts";
import type { Tool } from "../../tool.ts";
import { type HostedFixture, SERVER } from "../hosted-fixture.ts";
import { openTestEndpoint, type TestEndpoint } from "../test-endpoint.ts";

/** @param fetch how the vendors' APIs answer */
export function openMcpOver(
  { settings, vendorClient, serverKey, now, authenticate, linking }: HostedFixture,
  tools: readonly Tool[],
  fetch: Fetch,
): Promise<TestEndpoint> {
  const { vendor, scopes } = settings.vendor;
  const elicitation = {
    seals: serverKey,
    now,
    connectionsUrl: `${SERVER}/connections`,
    mostTickets: MAX_OPEN,
    stopping: new AbortController().signal,
    pause: createPause(systemTimer),
    resolve: vendorClient.resolve,
    source: identitySource(settings),
  };
  const deps = {
    authenticate,
    scope: scopes.join(" "),
    vendor: () => vendorClient.resolve(vendor),
    names: vendor,
    allowLoopback: true,
    fetch,
    vendorClient,
    ...(linking === undefined ? {} : { linking: { ...settings.links, ...elicitation } }),
  };
  return openTestEndpoint({ tools }, deps);
}
