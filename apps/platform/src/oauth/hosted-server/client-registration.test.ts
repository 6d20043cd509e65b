import { type Fetch, Secret } from "@oauth-broker/oauth-core";
import { shared } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { openTestConnect, REDIRECT_URI } from "../../testing/test-connect.ts";
import { enteredClient, registeredClient } from "./client-registration.ts";
import type { HostedServer } from "./discover.ts";

const SECRET = "secret-of-the-registered-canary";
let asked: { url: string; body: Record<string, unknown> }[];
let registered: Record<string, unknown>;

const platform = shared(openTestConnect);
beforeEach(() => {
  asked = [];
  registered = { client_id: "registered", redirect_uris: [REDIRECT_URI] };
});

function serverAt(issuer: string, methods?: readonly string[]): HostedServer {
  const registrationEndpoint = `${issuer}/register`;
  return {
    issuer,
    resource: `${issuer}/mcp`,
    authorizationEndpoint: `${issuer}/authorize`,
    tokenEndpoint: `${issuer}/token`,
    registrationEndpoint,
    metadata: {
      issuer,
      registration_endpoint: registrationEndpoint,
      ...(methods === undefined ? {} : { token_endpoint_auth_methods_supported: [...methods] }),
    },
  };
}

function register(connectorId: string, server: HostedServer) {
  const fetch: Fetch = async (url, init) => {
    const body = JSON.parse(init?.body as string) as Record<string, unknown>;
    asked.push({ url: url instanceof Request ? url.url : url.toString(), body });
    return Response.json(registered, { status: 201 });
  };
  return registeredClient(connectorId, server, { ...platform, redirectUri: REDIRECT_URI, fetch });
}

describe("a client registered at a server", () => {
  it("is public when the server accepts that, and the same for every user", async () => {
    const server = serverAt("https://one.example");
    const client = { clientId: "registered", method: "none" };
    expect(await register("public", server)).toEqual(client);
    expect(await register("public", server)).toEqual(client);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.body).toMatchObject({ token_endpoint_auth_method: "none", application_type: "web" });
  });

  it.each(["client_secret_basic", "client_secret_post"])(
    "bar#DC-4 has a secret, kept sealed, for %s",
    async (method) => {
      Object.assign(registered, { client_secret: SECRET, client_secret_expires_at: 0 });
      const server = serverAt(`https://${method.slice(14)}.example`, ["private_key_jwt", method]);
      for (const again of [false, true]) {
        // oxlint-disable-next-line no-await-in-loop
        const client = await register("confidential", server);
        expect([client.method, client.clientSecret?.reveal(), again]).toEqual([method, SECRET, again]);
      }
      expect(asked.map(({ body }) => body["token_endpoint_auth_method"])).toEqual([method]);
      expect(platform.folderText()).not.toContain(SECRET);
    },
  );

  it("rfc7591#3.2.1 bar#DC-3 is registered anew when its secret has expired", async () => {
    const server = serverAt("https://renewing.example", ["client_secret_basic"]);
    Object.assign(registered, { client_secret: SECRET, client_secret_expires_at: platform.now() + 600 });
    await register("renewing", server);
    await register("renewing", server);
    expect(asked).toHaveLength(1);
    platform.advance(601);
    Object.assign(registered, { client_id: "again", client_secret_expires_at: platform.now() + 600 });
    expect((await register("renewing", server)).clientId).toBe("again");
    expect(asked).toHaveLength(2);
  });

  it("bar#DC-3 is refused with a secret that has ended", async () => {
    Object.assign(registered, { client_secret: SECRET, client_secret_expires_at: platform.now() - 1 });
    const server = serverAt("https://late.example", ["client_secret_basic"]);
    await expect(register("late", server)).rejects.toMatchObject({ extras: { reason: "no_registration" } });
  });

  it("bar#DC-5 belongs to one issuer: elsewhere the platform registers anew", async () => {
    await register("moved", serverAt("https://before.example"));
    await register("moved", serverAt("https://after.example"));
    expect(asked.map(({ url }) => url)).toEqual(["https://before.example/register", "https://after.example/register"]);
  });

  it.each([
    ["wants what the platform lacks", { token_endpoint_auth_method: "private_key_jwt" }],
    ["gives no secret for a method that needs one", { token_endpoint_auth_method: "client_secret_basic" }],
  ])("is refused where the server %s", async (what, answer) => {
    Object.assign(registered, answer);
    await expect(register(what, serverAt("https://odd.example"))).rejects.toMatchObject({
      extras: { reason: "no_registration" },
    });
  });
});

it("an entered client authenticates as the server takes it", () => {
  const secret = new Secret(SECRET);
  const methodFor = (methods?: readonly string[]) =>
    enteredClient("entered", secret, serverAt("https://x.example", methods)).method;
  expect(methodFor()).toBe("client_secret_basic");
  expect(methodFor(["none", "client_secret_post"])).toBe("client_secret_post");
  expect(enteredClient("entered", undefined, serverAt("https://x.example")).method).toBe("none");
});
