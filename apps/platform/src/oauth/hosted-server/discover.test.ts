import { createEgress } from "@oauth-broker/oauth-core/egress";
import { type ScriptedAnswer, startScriptedVendor } from "@oauth-broker/simulators";
import { shared } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { registerAt } from "./client-registration.ts";
import { discoverServer } from "./discover.ts";

const REDIRECT_URI = "https://platform.example/oauth/callback";
const PATH = "/.well-known/oauth-protected-resource/mcp";
const ROOT = "/.well-known/oauth-protected-resource";
const METADATA = "/.well-known/oauth-authorization-server";

let origin: string;
let answers: Record<string, ScriptedAnswer>;
let asked: string[];

const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: 2_000 });
afterAll(() => egress.close());
const server = shared(() =>
  startScriptedVendor({
    "*": ({ path }) => {
      asked.push(path);
      return { body: {}, ...(answers[path] ?? { status: 404 }) };
    },
  }),
);
beforeAll(() => {
  origin = server.url;
});

const challenge = (parameters = ""): ScriptedAnswer => ({
  status: 401,
  headers: { "www-authenticate": `Bearer ${parameters}`.trim() },
});
const resource = (over: Record<string, unknown> = {}): ScriptedAnswer => ({
  status: 200,
  body: { resource: `${origin}/mcp`, authorization_servers: [origin], ...over },
});
const metadata = (over: Record<string, unknown> = {}): ScriptedAnswer => ({
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
    "/mcp": challenge(`resource_metadata="${origin}${PATH}"`),
    [PATH]: resource(),
    [METADATA]: metadata(),
    "/register": { status: 201, body: { client_id: "platform", redirect_uris: [REDIRECT_URI] } },
  };
});

const deps = { redirectUri: REDIRECT_URI, fetch: egress.fetch };
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

  it("is found at the path, then at the root, when its 401 names nothing", async () => {
    answers["/mcp"] = challenge();
    expect(await reason()).toBe("found");
    delete answers[PATH];
    answers[ROOT] = resource();
    asked = [];
    expect(await reason()).toBe("found");
    expect(asked).toEqual(["/mcp", PATH, ROOT, METADATA]);
  });

  it("rfc9728#3.3 describes itself, and only at the root its whole origin", async () => {
    answers["/mcp"] = challenge();
    const whole = resource({ resource: origin });
    answers[PATH] = whole;
    expect(await reason()).toBe("no_resource_metadata");
    delete answers[PATH];
    answers[ROOT] = whole;
    expect((await discover()).resource).toBe(origin);
    answers[ROOT] = resource();
    expect((await discover()).resource).toBe(`${origin}/mcp`);
  });

  it.each([404, 401])("is its own authorization server where it describes no resource (%i)", async (status) => {
    answers["/mcp"] = challenge('scope="read"');
    answers[PATH] = { status };
    answers[ROOT] = { status };
    expect(await discover()).toMatchObject({ issuer: origin, resource: `${origin}/mcp`, scope: "read" });
    expect(asked).toEqual(["/mcp", PATH, ROOT, METADATA]);
    delete answers[METADATA];
    expect(await reason()).toBe("no_server_metadata");
  });

  it("mcp-2026-07-28/authorization#scope-selection-strategy asks for its 401's scope, else all", async () => {
    expect((await discover()).scope).toBeUndefined();
    answers[PATH] = resource({ scopes_supported: ["read", "write"] });
    expect((await discover()).scope).toBe("read write");
    answers["/mcp"] = challenge(`scope="read", resource_metadata="${origin}${PATH}"`);
    expect((await discover()).scope).toBe("read");
    answers[METADATA] = metadata({ scopes_supported: ["read", "offline_access"] });
    expect((await discover()).scope).toBe("read offline_access");
  });

  it("rfc8414#3.3 has metadata where RFC 8414 or OpenID Connect puts it, of this issuer", async () => {
    const tenant = `${origin}/tenant`;
    answers[PATH] = resource({ authorization_servers: [tenant] });
    answers["/tenant/.well-known/openid-configuration"] = metadata({ issuer: tenant });
    expect((await discover()).issuer).toBe(tenant);
    const places = [`${METADATA}/tenant`, "/.well-known/openid-configuration/tenant"];
    expect(asked.slice(2)).toEqual([...places, "/tenant/.well-known/openid-configuration"]);
    answers[`${METADATA}/tenant`] = metadata();
    expect(await reason()).toBe("no_server_metadata");
  });

  it("leaves authorization to another host only where it may", async () => {
    // Another host name, and so another origin, of the same machine.
    const elsewhere = origin.replace("127.0.0.1", "localhost");
    answers[PATH] = resource({ authorization_servers: [elsewhere] });
    answers[METADATA] = metadata({ issuer: elsewhere, token_endpoint: `${elsewhere}/token` });
    expect(await reason()).toBe("foreign_endpoint");
    const found = await discoverServer(`${origin}/mcp`, egress.fetch, { foreignAuthorizationServers: true });
    expect(found).toMatchObject({ issuer: elsewhere, tokenEndpoint: `${elsewhere}/token` });
  });

  it("rfc9207#2.4 says which iss to expect: none, its own, or exactly the vendor's that it names", async () => {
    expect((await discover()).responseIssuer).toBeUndefined();
    answers[METADATA] = metadata({ authorization_response_iss_parameter_supported: true });
    expect((await discover()).responseIssuer).toBe(origin);
    answers[METADATA] = metadata({ vendor_issuer: "https://vendor.example" });
    expect((await discover()).responseIssuer).toBe("https://vendor.example");
  });

  it("registers the platform", async () => {
    expect(await registerAt(await discover(), { ...deps, now: () => 0 })).toEqual({
      clientId: "platform",
      method: "none",
    });
    answers["/register"] = { status: 400, body: { error: "invalid_redirect_uri" } };
    await expect(registerAt(await discover(), { ...deps, now: () => 0 })).rejects.toMatchObject({
      extras: { reason: "no_registration" },
    });
  });
});

describe("a server that answers otherwise", () => {
  it.each<[string, string, () => void]>([
    ["no_challenge", "has no check", () => (answers["/mcp"] = { status: 200 })],
    ["no_challenge", "has no /mcp", () => delete answers["/mcp"]],
    ["no_resource_metadata", "names resource metadata that is not there", () => delete answers[PATH]],
    ["no_resource_metadata", "guards its discovery", () => (answers[PATH] = { status: 401 })],
    [
      "no_resource_metadata",
      "describes another resource",
      () => (answers[PATH] = resource({ resource: "https://other.example/mcp" })),
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
    [
      "no_resource_metadata",
      "names its authorization server by a number",
      () => (answers[PATH] = resource({ authorization_servers: 1 })),
    ],
    ...["scopes_supported", "code_challenge_methods_supported", "token_endpoint"].map(
      (name): [string, string, () => void] => [
        "no_server_metadata",
        `has a number for ${name}`,
        () => (answers[METADATA] = metadata({ [name]: 1 })),
      ],
    ),
    ["found", "has null for what it lacks", () => (answers[METADATA] = metadata({ revocation_endpoint: null }))],
    [
      "found",
      "spells its own host in another way",
      () => (answers[METADATA] = metadata({ token_endpoint: `${origin.replace("http", "HTTP")}/token` })),
    ],
    ["no_pkce", "has no PKCE", () => (answers[METADATA] = metadata({ code_challenge_methods_supported: undefined }))],
    ["server_down", "is down", () => (answers["/mcp"] = { status: 503 })],
  ])("%s where it %s", async (expected, _what, change) => {
    change();
    expect(await reason()).toBe(expected);
  });

  it.each(["authorization_endpoint", "token_endpoint", "revocation_endpoint", "registration_endpoint"])(
    "is refused where its %s is another host's",
    async (name) => {
      const [, host] = origin.split("//");
      for (const url of [
        "https://thief.example/x",
        `${origin}.thief.example/`,
        `blob:${origin}/x`,
        `http://u:p@${host}/x`,
      ]) {
        answers[METADATA] = metadata({ [name]: url });
        // One after the other: the script is one.
        // oxlint-disable-next-line no-await-in-loop
        expect(await reason()).toBe("foreign_endpoint");
      }
    },
  );

  it("rfc9728#3.3 is refused if another host describes or authorizes it, and none is asked", async () => {
    answers["/mcp"] = challenge('resource_metadata="https://thief.example/x"');
    expect(await reason()).toBe("foreign_endpoint");
    answers["/mcp"] = challenge();
    answers[PATH] = resource({ authorization_servers: ["https://thief.example"] });
    expect(await reason()).toBe("foreign_endpoint");
  });

  it("is down when there is no answer", async () => {
    await expect(discoverServer("http://127.0.0.1:1/mcp", egress.fetch)).rejects.toMatchObject({
      code: "temporarily_unavailable",
    });
  });
});
