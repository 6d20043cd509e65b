import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { discoverServer, registerAt } from "./hosted-server.ts";

const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: 2_000 });
const REDIRECT_URI = "https://platform.example/oauth/callback";
const PATH = "/.well-known/oauth-protected-resource/mcp";
const ROOT = "/.well-known/oauth-protected-resource";
const METADATA = "/.well-known/oauth-authorization-server";

interface Canned {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}
let server: Server;
let origin: string;
let answers: Record<string, Canned>;
let asked: string[];

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const { status, body = {}, headers = {} } = answers[path] ?? { status: 404 };
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await egress.close();
  server.close();
});

const resource = (): Canned => ({ status: 200, body: { resource: `${origin}/mcp`, authorization_servers: [origin] } });
const metadata = (over: Record<string, unknown> = {}): Canned => ({
  status: 200,
  body: {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
    response_types_supported: ["code"],
    ...over,
  },
});

beforeEach(() => {
  asked = [];
  answers = {
    "/mcp": { status: 401, headers: { "www-authenticate": `Bearer resource_metadata="${origin}${PATH}"` } },
    [PATH]: resource(),
    [METADATA]: metadata(),
    "/register": { status: 201, body: { client_id: "platform", redirect_uris: [REDIRECT_URI] } },
  };
});

const discover = () => discoverServer(`${origin}/mcp`, egress.fetch);
const reason = async (): Promise<unknown> =>
  discover().then(
    () => "found",
    (error: { extras?: { reason?: string } }) => error.extras?.reason,
  );

describe("a deployed server", () => {
  it("is found by what its 401 names", async () => {
    expect(await discover()).toMatchObject({ issuer: origin, tokenEndpoint: `${origin}/token` });
    expect(asked).toEqual(["/mcp", PATH, METADATA]);
  });

  it("is found at the path, then at the root, where its 401 names nothing", async () => {
    answers["/mcp"] = { status: 401, headers: { "www-authenticate": "Bearer" } };
    expect(await reason()).toBe("found");
    delete answers[PATH];
    answers[ROOT] = resource();
    asked = [];
    expect(await reason()).toBe("found");
    expect(asked).toEqual(["/mcp", PATH, ROOT, METADATA]);
  });

  it("rfc9207#2.4 says whose iss comes: nobody's, its own, or exactly the vendor's it names", async () => {
    expect((await discover()).responseIssuer).toBeUndefined();
    answers[METADATA] = metadata({ authorization_response_iss_parameter_supported: true });
    expect((await discover()).responseIssuer).toBe(origin);
    answers[METADATA] = metadata({ vendor_issuer: "https://vendor.example" });
    expect((await discover()).responseIssuer).toBe("https://vendor.example");
  });

  it("registers the platform", async () => {
    expect(await registerAt(await discover(), REDIRECT_URI, egress.fetch)).toBe("platform");
    answers["/register"] = { status: 400, body: { error: "invalid_redirect_uri" } };
    await expect(registerAt(await discover(), REDIRECT_URI, egress.fetch)).rejects.toMatchObject({
      extras: { reason: "no_registration" },
    });
  });
});

describe("a server that answers otherwise", () => {
  it.each<[string, string, () => void]>([
    ["no_challenge", "has no check", () => (answers["/mcp"] = { status: 200 })],
    ["no_challenge", "has no /mcp", () => delete answers["/mcp"]],
    ["no_resource_metadata", "has no resource metadata", () => delete answers[PATH]],
    ["no_resource_metadata", "guards its discovery", () => (answers[PATH] = { status: 401 })],
    [
      "no_resource_metadata",
      "describes another resource",
      () => (answers[PATH] = { status: 200, body: { resource: "https://other.example/mcp" } }),
    ],
    ["no_server_metadata", "has no metadata", () => delete answers[METADATA]],
    [
      "no_server_metadata",
      "says it is another issuer",
      () => (answers[METADATA] = metadata({ issuer: "https://x.example" })),
    ],
    [
      "no_server_metadata",
      "has no token endpoint",
      () => (answers[METADATA] = metadata({ token_endpoint: undefined })),
    ],
    ["server_down", "is down", () => (answers["/mcp"] = { status: 503 })],
  ])("%s where it %s", async (expected, _what, change) => {
    change();
    expect(await reason()).toBe(expected);
  });

  it("is refused without PKCE", async () => {
    answers[METADATA] = metadata({ code_challenge_methods_supported: undefined });
    expect(await reason()).toBe("no_pkce");
  });

  it.each(["authorization_endpoint", "token_endpoint", "revocation_endpoint", "registration_endpoint"])(
    "is refused where its %s is another host's",
    async (name) => {
      answers[METADATA] = metadata({ [name]: "https://thief.example/x" });
      expect(await reason()).toBe("foreign_endpoint");
    },
  );

  it("rfc9728#3.3 is refused where another host is to describe it or authorize for it, which is never asked", async () => {
    answers["/mcp"] = {
      status: 401,
      headers: { "www-authenticate": 'Bearer resource_metadata="https://thief.example/x"' },
    };
    expect(await reason()).toBe("foreign_endpoint");
    answers["/mcp"] = { status: 401, headers: { "www-authenticate": "Bearer" } };
    answers[PATH] = {
      status: 200,
      body: { resource: `${origin}/mcp`, authorization_servers: ["https://thief.example"] },
    };
    expect(await reason()).toBe("foreign_endpoint");
  });

  it("is down when nobody answers", async () => {
    await expect(discoverServer("http://127.0.0.1:1/mcp", egress.fetch)).rejects.toMatchObject({
      code: "temporarily_unavailable",
    });
  });
});
