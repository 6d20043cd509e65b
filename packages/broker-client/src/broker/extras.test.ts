import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { decodeJwt, generateKeyPair } from "jose";
import { describe, expect, it } from "vitest";
import { createFakeBroker, ISSUER, REDIRECT_URI } from "../testing/fake-broker.ts";
import { createBrokerClient } from "./client.ts";

const now = fixedClock(1_700_000_000);
const common = { issuer: ISSUER, clientId: "platform", redirectUri: REDIRECT_URI, now };

describe("register", () => {
  it("passes on status, type and body unchanged", async () => {
    const broker = createFakeBroker();
    const body = Uint8Array.of(0xff, 0x00, 0x7b);
    broker.answers.set("/register", () => new Response(body, { status: 418, headers: { "content-type": "text/x" } }));
    const client = createBrokerClient({ ...common, clientSecret: "client-secret", fetch: broker.fetch });
    expect(await client.register("notion", { initialAccessToken: "iat" })).toEqual({
      status: 418,
      contentType: "text/x",
      body,
    });
    const asked = broker.asked.at(-1)!;
    expect(JSON.parse(asked.text)).toEqual({ vendor: "notion", initial_access_token: "iat" });
    expect(asked.headers.get("authorization")).toMatch(/^Basic /);
    broker.answers.set("/register", () => new Response(null, { status: 204 }));
    expect(await client.register("notion")).toEqual({ status: 204, body: new Uint8Array() });
  });

  it("rfc7523#3 presents an assertion as a Bearer token where the client has a key", async () => {
    const broker = createFakeBroker();
    const { privateKey } = await generateKeyPair("ES256");
    const client = createBrokerClient({ ...common, privateKey, fetch: broker.fetch });
    await client.register("notion");
    const assertion = broker.asked.at(-1)!.headers.get("authorization")?.replace("Bearer ", "") ?? "";
    expect(decodeJwt(assertion)).toMatchObject({ iss: "platform", sub: "platform", aud: ISSUER });
  });
});

describe("explain", () => {
  it("asks as start does, authenticated, and takes a connection in place of it", async () => {
    const broker = createFakeBroker();
    broker.answers.set("/v1/explain", () => Response.json({ vendor: "github", tier: 1 }));
    const client = createBrokerClient({ ...common, clientSecret: "client-secret", fetch: broker.fetch });
    expect(await client.explain({ vendor: "github", scope: "repo" })).toEqual({ vendor: "github", tier: 1 });
    expect(Object.fromEntries(broker.asked.at(-1)!.body)).toMatchObject({ vendor: "github", scope: "repo" });
    await client.explain({ connection: "sealed" });
    expect(broker.asked.at(-1)!.body.get("connection")).toBe("sealed");
    broker.answers.set("/v1/explain", () => Response.json({ error: "invalid_request" }, { status: 400 }));
    await expect(client.explain({ vendor: "x" })).rejects.toMatchObject({ code: "invalid_request" });
    broker.answers.set("/v1/explain", () => Response.json([]));
    await expect(client.explain({ vendor: "x" })).rejects.toMatchObject({ code: "answer_refused" });
  });
});
