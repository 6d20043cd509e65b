import { fixedClock, ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { createFakeBroker, ISSUER, networkFailure, PLATFORM, REDIRECT_URI } from "../testing/fake-broker.ts";
import { type BrokerClient, type BrokerClientOptions, createBrokerClient } from "./client.ts";

const now = fixedClock(1_700_000_000);

const broker = ofEachTest(createFakeBroker);
const client = ofEachTest(make);

function make(options: Partial<BrokerClientOptions> = {}): BrokerClient {
  return createBrokerClient({ ...PLATFORM, now, fetch: broker.fetch, ...options });
}

const paths = (): string[] => broker.asked.map(({ path }) => path);

describe("the options", () => {
  it.each([
    ["http://broker.example"],
    [`${ISSUER}/`],
    [`${ISSUER}/path`],
    ["https://user:secret@broker.example"],
    ["broker.example"],
    [""],
  ])("refuse %s as issuer", (issuer) => {
    expect(() => make({ issuer })).toThrow("issuer must be");
  });

  it.each([["http://127.0.0.1:8787"], ["http://[::1]:8787"], ["http://localhost:8787"]])("take %s", (issuer) => {
    expect(() => make({ issuer })).not.toThrow();
  });

  it("rfc6749#3.1.2 want a client id and an absolute redirect URI", () => {
    for (const clientId of ["", undefined]) expect(() => make({ clientId: clientId! })).toThrow("clientId");
    for (const redirectUri of ["", undefined, "/oauth/callback", "not a url", `${REDIRECT_URI}#fragment`]) {
      expect(() => make({ redirectUri: redirectUri! })).toThrow("redirectUri");
    }
  });
});

describe("the metadata", () => {
  it("is asked for once, by any number of callers, and again after an hour", async () => {
    await Promise.all([1, 2, 3].map(() => client.start({ vendor: "github" })));
    expect(paths().filter((path) => path.startsWith("/.well-known"))).toHaveLength(1);
    now.advance(3601);
    await client.start({ vendor: "github" });
    expect(paths().filter((path) => path.startsWith("/.well-known"))).toHaveLength(2);
  });

  it("is asked for again after a failure", async () => {
    broker.answers.set("/.well-known/oauth-authorization-server", networkFailure);
    await expect(client.start({ vendor: "github" })).rejects.toMatchObject({
      code: "temporarily_unavailable",
      details: { reason: "broker_unreachable", retryAfterSeconds: 5 },
    });
    broker.answers.set("/.well-known/oauth-authorization-server", () => Response.json(broker.metadata));
    await client.start({ vendor: "github" });
  });

  it.each<[string, Record<string, unknown>]>([
    ["rfc8414#3.3 another issuer's", { issuer: "https://other.example" }],
    ["an endpoint that is no URL", { token_endpoint: "/v1/token" }],
    ["an endpoint that is no text", { token_endpoint: 5 }],
    ["rfc8414#3.3 the issuer's with a slash", { issuer: `${ISSUER}/` }],
    ["rfc9126#5 without PAR", { pushed_authorization_request_endpoint: undefined }],
    ["rfc9126#5 with PAR left to the client", { require_pushed_authorization_requests: false }],
    ["without iss in answers", { authorization_response_iss_parameter_supported: undefined }],
    ["with plain PKCE only", { code_challenge_methods_supported: ["plain"] }],
    ["with PKCE that is no list", { code_challenge_methods_supported: 5 }],
    ["with a token endpoint elsewhere", { token_endpoint: "https://attacker.example/token" }],
    ["with an authorization endpoint elsewhere", { authorization_endpoint: "https://attacker.example/authorize" }],
    ["without revocation", { revocation_endpoint: undefined }],
  ])("%s is not a broker's", async (_what, members) => {
    Object.assign(broker.metadata, members);
    await expect(client.start({ vendor: "github" })).rejects.toMatchObject({ code: "invalid_response" });
    expect(paths()).toEqual(["/.well-known/oauth-authorization-server"]);
  });

  it.each([
    ["invalid_grant", undefined],
    ["temporarily_unavailable", "restart"],
    ["vendor_credentials_rejected", undefined],
  ])("ends no connection with %s, retry %s", async (error, retry) => {
    const path = "/.well-known/oauth-authorization-server";
    broker.answers.set(path, () => Response.json({ error, retry }, { status: 400 }));
    const refreshed = client.refresh({ vendor: "github", connection: "c", refreshToken: "rt" });
    await expect(refreshed).rejects.toMatchObject({ code: "invalid_response" });
  });

  it("is not looked for elsewhere when the broker redirects", async () => {
    const headers = { location: "https://attacker.example/" };
    broker.answers.set("/.well-known/oauth-authorization-server", () => new Response(null, { status: 302, headers }));
    await expect(client.start({ vendor: "github" })).rejects.toMatchObject({ code: "invalid_response" });
    expect(broker.asked).toHaveLength(1);
  });
});
