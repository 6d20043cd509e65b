/** An app on the engine alone: one vendor (three functions), and both ways a flow can end. */
import { OAuthError } from "@oauth-broker/oauth-core";
import * as engine from "@oauth-broker/oauth-core/brokered-code";
import { redirectAnswer } from "@oauth-broker/oauth-core/http";
import { deriveCodeChallenge, parseParameters } from "@oauth-broker/oauth-core/protocol";
import { defineVendor } from "@oauth-broker/oauth-core/registry";
import { createBindingCookie, createFlowId, verifyRedirectUri } from "@oauth-broker/oauth-core/authorization-server";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { expect, it } from "vitest";

const [APP, BACK, VENDOR] = ["https://app.example", "https://c.example/", "https://v.example"];
const VERIFIER = "v".repeat(43);
const KEY = Buffer.alloc(32, 1);
const now = fixedClock(1_800_000_000);

const entry = defineVendor({ id: "v", name: "V", issuer: VENDOR });
const endpoints = { authorizationEndpoint: `${VENDOR}/authorize`, tokenEndpoint: `${VENDOR}/token` };
const vendor: engine.FlowVendor = {
  vendor: { ...entry, ...endpoints, issExpected: false },
  credentials: { id: "env", source: "environment", clientId: "ours" },
  vendorClient: {
    authorizationUrl: (_vendor, { state }) => `${VENDOR}/authorize?state=${state}`,
    redeemCode: async (_vendor, _client, { code }) => ({
      accessToken: `of ${code}`,
      tokenType: "Bearer",
      vendorData: {},
    }),
    revokeGrant: async () => "token",
  },
  redirectUri: `${APP}/callback`,
};
const linked: string[] = [];

const flows = engine.createBrokeredCode<engine.FlowRecord, engine.FlowVendor>(
  { records: memoryRecordStore({ now }), now, issuer: APP },
  {
    kind: "flow",
    parse: ({ data }) => data as unknown as engine.FlowRecord,
    state: engine.HANDLE_STATE,
    secrets: async (id, flow, at) => engine.flowSecrets({ pkce: KEY, nonce: KEY }, id, at, flow.scope),
    seal: (parked, code) => seal(deriveKey(code.value, "code"), JSON.stringify(parked), [code.flowId]),
    open: async (flow, code) =>
      JSON.parse(String(open(deriveKey(code.value, "code"), flow.sealed ?? "", [code.flowId]))),
    redirectOf: async (flow) => verifyRedirectUri(flow.redirectUri ?? "", [BACK]),
    vendorOf: async () => vendor,
    bindsBrowser: () => true,
    forgotten: { whenParked: ["state"], atEnd: ["sealed", "state"] },
    burnsOnWrongVerifier: true,
    releases: () => false,
    finishAtCallback: async ({ tokens }) => {
      linked.push(tokens.accessToken);
      return redirectAnswer(`${APP}/linked`);
    },
    refuse: (_trace, reason) => new OAuthError("invalid_request", "This cannot go on", { reason }),
  },
);

async function visit(asked: Pick<engine.FlowRecord, "purpose" | "clientId" | "redirectUri" | "codeChallenge">) {
  const flow = { v: 1, path: "/callback", vendor: "v", scope: [], ...asked };
  const left = await flows.start({ flowId: createFlowId(), flow }, vendor, createBindingCookie(), {});
  const parameters = parseParameters(`code=vendor-code&${new URL(left.headers["location"] ?? "").search.slice(1)}`);
  const cookieHeader = left.headers["set-cookie"]?.split(";")[0];
  const back = await flows.callback({ parameters, cookieHeader, path: "/callback" }, {});
  return new URL(back.headers["location"] ?? "");
}

it("a flow for a client ends with a code, which is redeemed once", async () => {
  const codeChallenge = deriveCodeChallenge(VERIFIER);
  const back = await visit({ purpose: "client", clientId: "client", redirectUri: BACK, codeChallenge });
  const form = parseParameters(`${back.search.slice(1)}&redirect_uri=${BACK}&code_verifier=${VERIFIER}`);
  expect((await flows.redeem(form, "client", {})).tokens.accessToken).toBe("of vendor-code");
  await expect(flows.redeem(form, "client", {})).rejects.toMatchObject({ code: "invalid_grant" });
});

it("a link ends at the callback, with the vendor's tokens", async () => {
  expect([(await visit({ purpose: "link" })).href, linked]).toEqual([`${APP}/linked`, ["of vendor-code"]]);
});
