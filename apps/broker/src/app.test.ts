/**
 * Egress shares its connections fairly between clients. These tests check which client each
 * outbound call counts for.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import type { Vendor } from "@oauth-broker/oauth-core/registry";
import { expect, it } from "vitest";
import { callerName } from "../../../packages/oauth-core/src/egress/share.ts";
import { as } from "./testing/registering-broker.ts";
import { ISSUER, testBroker } from "./testing/test-broker.ts";

/** A broker whose vendor records the client that each call is made for. */
async function askedBroker(vendor: Partial<Vendor>) {
  const names: string[] = [];
  const issuer = "https://issuer.example";
  const metadata = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
  const vendorAnswers: Fetch = async (input) => {
    names.push(`${new URL(String(input)).pathname} ${callerName()}`);
    return Response.json({ access_token: "at", token_type: "bearer", ...metadata });
  };
  return { ...(await testBroker({ vendor, vendorAnswers })), names, issuer };
}

it("bar#ST-8 asks vendors in the name of the client that each request is of", async () => {
  const endpoints = {
    revocationEndpoint: "https://acme.example/revoke",
    registrationEndpoint: "https://acme.example/r",
  };
  const { connect, refresh, post, app, names, issuer } = await askedBroker(endpoints);
  const { connection } = await connect();
  await refresh({ connection });
  await post("/v1/revoke", { token: "at", vendor: "acme" }, "other");
  await post("/v1/explain", { issuer, vendor_client_id: "mine" }, "other");
  await app.request(`${ISSUER}/register`, {
    method: "POST",
    headers: { "content-type": "application/json", ...as("other") },
    body: '{"vendor":"acme"}',
  });
  expect(names).toEqual([
    "/token platform",
    "/token platform",
    "/revoke other",
    "/.well-known/openid-configuration other",
    "/r other",
  ]);
});

it("bar#ST-8 asks in the name of the flow's client where a browser is waiting", async () => {
  const { park, names } = await askedBroker({ redeemAt: "callback" });
  await park();
  expect(names).toEqual(["/token platform"]);
});

it("bar#ST-8 asks for what all clients of a vendor wait for in no client's name", async () => {
  const issuer = "https://issuer.example";
  const { push, names } = await askedBroker({ issuer });
  expect((await push()).response.status).toBe(201);
  expect(names).toEqual(["/.well-known/openid-configuration "]);
});
