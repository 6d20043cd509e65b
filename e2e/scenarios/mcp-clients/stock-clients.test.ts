/**
 * Ordinary MCP clients connect by themselves to a server with its own callback: they get only the
 * address of `/mcp`. Everything they do is the SDK's; a user agrees on the server's page and at the
 * vendor.
 */
import { createServer } from "node:https";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestAuthority, listen, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { callTool, ERAS, postWhoami } from "../../support/mcp/client.ts";
import { authorizeClient, type StockClient } from "../../support/mcp/client-oauth.ts";
import { startMcpServer } from "../../support/mcp/process.ts";
import { startServerCallback } from "../../support/mcp/server-callback.ts";
import { temporaryFolder } from "../../support/service-process.ts";

const CALLBACK = "http://127.0.0.1/oauth/callback";
/** A native client learns its port when it starts. */
const WITH_PORT = "http://127.0.0.1:51000/oauth/callback";
/** As shipping clients do: localhost without a port in the document, with one in the request. */
const ON_LOCALHOST = "http://localhost/callback";
const DESK = { client_id: "desk", client_name: "Desk", redirect_uris: [CALLBACK] };

const authority = createTestAuthority();
let documents = 0;
/** Where the client with a document publishes it. */
const host = shared(async () => {
  const { key, cert } = authority.issue(["127.0.0.1"]);
  const server = createServer({ key, cert }, ({ url }, response) => {
    documents += 1;
    const isOnLocalhost = host.localhostUrl.endsWith(url ?? "");
    response.setHeader("content-type", "application/json").end(
      JSON.stringify({
        client_id: isOnLocalhost ? host.localhostUrl : host.documentUrl,
        client_name: "Client with a document",
        redirect_uris: isOnLocalhost ? [ON_LOCALHOST] : [CALLBACK, "app.example:/callback"],
        grant_types: ["authorization_code", "refresh_token"],
        token_endpoint_auth_method: "none",
      }),
    );
  });
  const { port, close } = await listen(server);
  const name = `127.0.0.1:${port}`;
  const documentUrl = `https://${name}/oauth/client.json`;
  return { name, documentUrl, localhostUrl: `https://${name}/oauth/client-metadata`, close };
});
const harness = shared(() => {
  const trusted = join(temporaryFolder(), "ca.pem");
  writeFileSync(trusted, authority.caPem);
  const environment = {
    NODE_EXTRA_CA_CERTS: trusted,
    OAUTH_CLIENTS: JSON.stringify([DESK]),
    OAUTH_CLIENT_METADATA_HOSTS: host.name,
    OAUTH_DYNAMIC_REGISTRATION: "open",
    OAUTH_DYNAMIC_REGISTRATION_HOSTS: "127.0.0.1",
  };
  // The authorities to trust are read when a process starts.
  return startServerCallback(() => environment, startMcpServer);
});

/** Credentials belong to one issuer. */
const listed = () => ({ registered: { client_id: "desk", issuer: harness.server.url } });

const WAYS: Readonly<Record<string, () => Pick<StockClient, "known" | "callback"> & { readonly clientId: unknown }>> = {
  "is on the operator's list": () => ({ known: listed(), clientId: "desk" }),
  "describes itself": () => ({ known: { clientMetadataUrl: host.documentUrl }, clientId: host.documentUrl }),
  "describes itself, on localhost": () => ({
    known: { clientMetadataUrl: host.localhostUrl },
    callback: "http://localhost:51823/callback",
    clientId: host.localhostUrl,
  }),
  registers: () => ({ clientId: expect.stringMatching(/^dcr_/) }),
};

describe.each(ERAS)("a stock %s client", (era) => {
  it.each(Object.entries(WAYS))("that %s connects, calls, and gets the account of its user", async (_, way) => {
    const { clientId, ...given } = way();
    const before = documents;
    const connected = await authorizeClient(harness.server.mcp, {
      era,
      account: "user",
      callback: WITH_PORT,
      ...given,
    });
    expect(connected.clientId).toEqual(clientId);
    const { value } = await callTool(connected.client, "whoami");
    expect(value).toMatchObject({ sub: "user" });
    await connected.client.close();
    // Cached for minutes: the second era finds it there.
    expect(documents - before).toBeLessThanOrEqual(1);
  });
});

describe("a client finds where to sign in", () => {
  const RESOURCE = "/.well-known/oauth-protected-resource";

  /**
   * A network that drops the given requests.
   * @returns the requested paths
   */
  function lossy({ header = true, path = true }: { readonly header?: boolean; readonly path?: boolean }) {
    const asked: string[] = [];
    const lossyFetch: typeof fetch = async (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      asked.push(pathname);
      if (!path && pathname === `${RESOURCE}/mcp`) return new Response(null, { status: 404 });
      const answer = await fetch(input, init);
      if (header || answer.status !== 401) return answer;
      const headers = new Headers(answer.headers);
      headers.delete("www-authenticate");
      return new Response(answer.body, { status: 401, headers });
    };
    return { asked, fetch: lossyFetch };
  }

  it.each([
    ["by the header of the 401", {}, `${RESOURCE}/mcp`],
    ["by the path of the resource", { header: false }, `${RESOURCE}/mcp`],
    ["at the root", { header: false, path: false }, RESOURCE],
  ])("%s", async (_, losses, expected) => {
    const { asked, ...network } = lossy(losses);
    const { client } = await authorizeClient(harness.server.mcp, {
      era: "modern",
      account: "operator",
      callback: WITH_PORT,
      known: listed(),
      ...network,
    });
    expect((await callTool(client, "whoami")).value).toMatchObject({ sub: "operator" });
    expect(asked.filter((one) => one.startsWith(RESOURCE)).at(-1)).toBe(expected);
    await client.close();
  });
});

it("a client that reads the challenge by HEAD is led to the resource it asked for", async () => {
  const answer = await fetch(harness.server.mcp, { method: "HEAD" });
  const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(answer.headers.get("www-authenticate") ?? "") ?? [];
  const described = (await (await fetch(metadata)).json()) as { readonly resource: string };
  expect([answer.status, described.resource]).toEqual([401, harness.server.mcp]);
});

it("two clients of two users get their own accounts, and signing out one keeps the other", async () => {
  const connect = (account: StockClient["account"]) =>
    authorizeClient(harness.server.mcp, { era: "modern", account, callback: WITH_PORT });
  const [one, two] = [await connect("user"), await connect("operator")];
  expect(one.clientId).not.toBe(two.clientId);
  const revoked = await fetch(`${harness.server.url}/revoke`, {
    method: "POST",
    body: new URLSearchParams({ client_id: one.clientId ?? "", token: one.tokens.refreshToken }),
  });
  expect(revoked.status).toBe(200);
  expect((await postWhoami(harness.server.mcp, one.tokens.accessToken)).status).toBe(401);
  expect((await callTool(two.client, "whoami")).value).toMatchObject({ sub: "operator" });
  for (const { client } of [one, two]) await client.close();
});
