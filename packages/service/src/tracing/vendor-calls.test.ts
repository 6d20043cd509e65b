import { expect, it, vi } from "vitest";
import { inContext } from "../request-context.ts";
import { OAuthError } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import type { ResolvedVendor, VendorCredentials, VendorTokens } from "@oauth-broker/oauth-core/registry";
import { createLog } from "../log.ts";
import { type VendorCallMetrics, watchedVendorClient } from "./vendor-calls.ts";

const vendor = { id: "acme" } as ResolvedVendor;
const credentials = {} as VendorCredentials;
const tokens = { accessToken: "canary-access-token" } as VendorTokens;

function watched(client: Partial<VendorClient>) {
  const lines: string[] = [];
  const countVendorCall = vi.fn<VendorCallMetrics["countVendorCall"]>();
  const log = createLog({ write: (line) => void lines.push(line) });
  return {
    client: watchedVendorClient(client as VendorClient, { log, metrics: { countVendorCall } }),
    counted: () => countVendorCall.mock.calls,
    calls: () => lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
  };
}

it("a call is a line with its request's flow, client and trace, and is counted", async () => {
  const { client, counted, calls } = watched({ redeemCode: async () => tokens });
  const request = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", flowId: "f_1", clientId: "platform" };
  const redeem = async (): Promise<VendorTokens> => client.redeemCode(vendor, credentials, {} as never);
  expect(await inContext({ request }, redeem)).toBe(tokens);
  expect(counted()).toEqual([["acme", "redeem", "ok"]]);
  expect(calls()).toEqual([
    {
      level: "info",
      time: expect.any(String),
      event: "vendor_call",
      vendor: "acme",
      operation: "redeem",
      outcome: "ok",
      duration_ms: expect.any(Number),
      flow_id: "f_1",
      client_id: "platform",
      trace_id: request.traceId,
    },
  ]);
});

it("a call that fails has the error's code as outcome, and throws as before", async () => {
  const error = new OAuthError("invalid_grant", "canary of the vendor's text");
  const { client, counted, calls } = watched({ refreshTokens: async () => Promise.reject(error) });
  await expect(client.refreshTokens(vendor, credentials, {} as never)).rejects.toBe(error);
  expect(counted()).toEqual([["acme", "refresh", "invalid_grant"]]);
  expect(calls()).toMatchObject([{ operation: "refresh", outcome: "invalid_grant" }]);
  expect(JSON.stringify(calls())).not.toContain("canary");
});

it("what a vendor refuses by its answer is not ok", async () => {
  const { client, counted } = watched({
    account: async () => undefined,
    validateAccessToken: async () => ({ active: false, reason: "expired" }),
    registerClient: async () => ({ status: 400 }) as never,
  });
  await client.account(vendor, "token");
  await client.validateAccessToken(vendor, "token");
  await client.registerClient(vendor, {} as never);
  expect(counted()).toEqual([
    ["acme", "account", "refused"],
    ["acme", "validate", "refused"],
    ["acme", "register", "refused"],
  ]);
});

it("is no call: discovery from what is kept, and a user whom the tokens name", async () => {
  const { client, counted, calls } = watched({ resolve: async () => vendor, identify: async () => "user" });
  await client.resolve(vendor);
  await client.identify({ ...vendor, identity: { from: "token_response", members: ["sub"] } }, tokens);
  expect([counted(), calls()]).toEqual([[], []]);
  await client.identify({ ...vendor, identity: "unknown" }, tokens);
  expect(counted()).toEqual([["acme", "userinfo", "ok"]]);
});

it("discovery that fails is a line", async () => {
  const down = new OAuthError("temporarily_unavailable", "down");
  const { client, calls } = watched({ resolve: async () => Promise.reject(down) });
  await expect(client.resolve(vendor)).rejects.toBe(down);
  expect(calls()).toMatchObject([{ vendor: "acme", operation: "discover", outcome: "temporarily_unavailable" }]);
});
