/**
 * One journey per endpoint on which something goes wrong, over HTTP and with a real vendor: what
 * costs nothing, what ends the flow, and what the log says of it. Each way in which a request or
 * an answer can be wrong is in the tests beside the endpoint's code.
 */
import { expectError, expectErrorRedirect, expectPage } from "@oauth-broker/oauth-core/testing";
import { createCookieJar } from "@oauth-broker/simulators";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { INITIATE_LOGIN_URI } from "../../support/broker/configuration.ts";
import { freePort } from "../../support/free-port.ts";
import { createGate, type Gate } from "../../support/broker/gate.ts";
import { type Harness, startHarness } from "../../support/broker/harness.ts";
import {
  type Answer,
  basic,
  browse,
  encode,
  random,
  readTokens,
  send,
  type Tokens,
} from "../../support/broker/platform.ts";

let harness: Harness;
let gate: Gate;

beforeAll(async () => {
  harness = await startHarness(async (issuer, secrets) => {
    gate = createGate(await freePort(), Number(new URL(issuer).port));
    return {
      vendors: `
  gated: { name: Gated, issuer: ${issuer}, token_endpoint: ${gate.url}/token, credentials: { client_id: broker, client_secret: ${secrets.vendor} } }
  stale: { name: Stale, issuer: ${issuer}, credentials: { client_id: broker, client_secret: a-secret-that-was-replaced } }`,
    };
  });
});
afterEach(() => harness.vendor.faults.clear());
// Closing the broker fails when a secret is in its log.
afterAll(async () => {
  await gate.shut();
  await harness.close();
});

const lastLogged = (): Readonly<Record<string, unknown>> | undefined => harness.broker.log().at(-1);

it("/v1/par refuses a form in another charset, and credentials that are wrong", async () => {
  const { platform, secrets, baseUrl } = harness;
  const before = harness.vendor.requests().length;
  const push = async (secret: string, type: string): Promise<Answer> =>
    send(`${baseUrl}/v1/par`, {
      method: "POST",
      headers: { authorization: basic("platform", secret), "content-type": type },
      body: encode({ client_id: "platform", vendor: "op" }).toString(),
    });
  const form = "application/x-www-form-urlencoded";
  expectError(await push(secrets.platform, `${form}; charset=iso-8859-1`), 415, "invalid_request");
  expectError(await push("a-wrong-secret", form), 401, "invalid_client");
  expect(lastLogged()).toMatchObject({ route: "/v1/par", status: 401, error: "invalid_client" });
  expect(harness.vendor.requests()).toHaveLength(before);
  expect((await platform.par()).status).toBe(201);
});

it("rfc9126#2.2 /v1/authorize leaves once, in one browser, and a link preview costs nothing", async () => {
  const { platform } = harness;
  const pushed = await platform.push();
  const url = platform.authorizeUrl(pushed);
  const preview = await send(url, { method: "HEAD" });
  expect([preview.status, preview.headers.get("allow")]).toEqual([405, "GET, POST"]);
  expectPage(await browse(url.replace("client_id=platform", "client_id=other")), 400, "request_uri_unknown");
  const jar = createCookieJar();
  const left = await browse(url, jar);
  expect(left.status).toBe(303);
  expect((await browse(url, jar)).headers.get("location")).toBe(left.headers.get("location"));
  expectPage(await browse(url), 400, "request_uri_used");
  expect(lastLogged()).toMatchObject({ route: "/v1/authorize", reason: "request_uri_used", flow_id: pushed.flowId });
});

it("bar#CB-3 bar#CB-7 bar#CB-12 /v1/callback takes one answer, in the browser that left", async () => {
  const at = await harness.platform.toCallback();
  const elsewhere = await harness.platform.toCallback();
  expectPage(await browse(at.callback, elsewhere.jar), 400, "browser_mismatch");
  const { origin, pathname, searchParams } = at.callback;
  // A cross-site POST of a browser carries no Lax cookie.
  const posted = await send(`${origin}${pathname}`, { method: "POST", body: new URLSearchParams(searchParams) });
  expect(posted.status).toBe(303);
  const again = new URL(posted.headers.get("location") ?? "", origin);
  const before = at.jar.copy();
  expect((await browse(again, at.jar)).headers.get("location")).toContain("code=");
  expect(expectPage(await browse(again, before), 400, "state_replayed")).toContain(`href="${INITIATE_LOGIN_URI}"`);
  expect(lastLogged()).toMatchObject({ route: "/v1/callback", reason: "state_replayed", flow_id: at.flowId });
});

it("bar#CB-16 /v1/callback ends a flow at another issuer's answer, without a vendor call", async () => {
  const at = await harness.platform.toCallback();
  const before = harness.vendorCalls("/token");
  const forged = new URL(at.callback);
  forged.searchParams.set("iss", `${harness.vendor.issuer}/`);
  expectPage(await browse(forged, at.jar.copy()), 400, "issuer_mismatch");
  expectPage(await browse(at.callback, at.jar), 400, "state_replayed");
  expect(harness.vendorCalls("/token")).toBe(before);
});

it.each(["cancel", "cancel-sign-in"] as const)("/v1/callback reports that the user declined: %s", async (decision) => {
  const at = await harness.platform.toCallback({ decision, form: { prompt: "login consent" } });
  const { redirectUri } = harness.platform;
  const to = { redirectUri, error: "access_denied", state: at.state, iss: harness.baseUrl };
  expectErrorRedirect(await browse(at.callback, at.jar), to);
});

it("bar#VR-5 /v1/token keeps code and refresh token if the vendor refuses connections", async () => {
  const { platform, now } = harness;
  const flow = await platform.toPlatform({ form: { vendor: "gated" } });
  const body = expectError(await platform.redeem(flow), 503, "temporarily_unavailable");
  expect([body["flow_id"], body["retry"]]).toEqual([flow.flowId, undefined]);
  await gate.open();
  const answer = await platform.redeem(flow);
  expect(answer.status, answer.text).toBe(200);
  const tokens = readTokens(answer);
  await gate.shut();
  expect(expectError(await harness.platform.refresh(tokens), 503, "temporarily_unavailable")).not.toHaveProperty(
    "retry",
  );
  await gate.open();
  now.advance(5);
  readTokens(await harness.platform.refresh(tokens));
  await gate.shut();
});

it("bar#XA-7 /v1/token ends a code at a wrong verifier, and the vendor never sees its own", async () => {
  const { platform, vendor } = harness;
  const flow = await platform.toPlatform();
  const wrong = { code_verifier: random("wrong verifier") };
  expectError(await platform.redeem(flow, wrong), 400, "invalid_grant");
  expectError(await platform.redeem(flow), 400, "invalid_grant");
  expect(lastLogged()).toMatchObject({ route: "/v1/token", error: "invalid_grant", flow_id: flow.flowId });
  const code = flow.callback.searchParams.get("code");
  expect(vendor.requests().some((seen) => seen.body["code"] === code)).toBe(false);
});

it("bar#VR-9 /v1/token reports that the vendor refused the shared credentials", async () => {
  const flow = await harness.platform.toPlatform({ form: { vendor: "stale" } });
  const body = expectError(await harness.platform.redeem(flow), 400, "vendor_credentials_rejected");
  expect(body).toMatchObject({ credentials_source: "shared", vendor_error: "invalid_client" });
});

it("bar#RF-1 a refresh is one vendor call for 60 s; then the rotated token is dead", async () => {
  const tokens = await harness.platform.connect();
  const before = harness.vendorCalls("/token");
  const first = await harness.platform.refresh(tokens);
  harness.now.advance(59);
  // The same tokens, with their remaining lifetime.
  expect((await harness.platform.refresh(tokens)).body).toEqual({ ...first.body, expires_in: 3600 - 59 });
  expect(harness.vendorCalls("/token")).toBe(before + 1);
  harness.now.advance(1);
  expect(expectError(await harness.platform.refresh(tokens), 400, "invalid_grant")["vendor_error"]).toBe(
    "invalid_grant",
  );
  expect(harness.vendorCalls("/token")).toBe(before + 2);
});

it("rfc6749#6 each refresh answers the tokens and the connection of the next", async () => {
  let tokens: Pick<Tokens, "accessToken" | "refreshToken" | "connection"> = await harness.platform.connect();
  for (let round = 0; round < 3; round += 1) {
    const fresh = await harness.platform.refresh(tokens);
    expect(fresh.body).toMatchObject({ token_type: "Bearer", vendor: "op", vendor_data: {} });
    expect(fresh.body["access_token"]).not.toBe(tokens.accessToken);
    tokens = readTokens(fresh);
  }
});

it("bar#RF-6 a refresh that brings the tokens of another user is refused", async () => {
  const tokens = await harness.platform.connect();
  const { body: theirs } = (await harness.platform.connect({ account: "operator" })).answer;
  const { access_token, vendor_id_token: id_token } = theirs;
  const rewrite = (tokenSet: object): Record<string, unknown> => ({ ...tokenSet, access_token, id_token });
  harness.vendor.faults.next("/token", { kind: "rewrite", rewrite });
  expect(expectError(await harness.platform.refresh(tokens), 502, "vendor_response_invalid")["reason"]).toBe(
    "subject_mismatch",
  );
});

it("rfc7009#2.1 bar#RV-2 /v1/revoke ends the token at the vendor, and hands on that it cannot", async () => {
  const tokens = await harness.platform.connect();
  const revoke = (): Promise<Answer> => harness.platform.revoke(tokens.accessToken, tokens);
  harness.vendor.faults.next("/token/revocation", {
    kind: "answer",
    status: 503,
    body: "",
    headers: { "Retry-After": "9" },
  });
  expect(expectError(await revoke(), 503, "temporarily_unavailable")["retry"]).toBeUndefined();
  const revoked = await revoke();
  expect([revoked.status, revoked.body, revoked.headers.get("cache-control")]).toEqual([
    200,
    { revoked: "token" },
    "no-store",
  ]);
  expect((await revoke()).status).toBe(200);
  const userinfo = await fetch(`${harness.vendor.issuer}/me`, {
    headers: { authorization: `Bearer ${tokens.accessToken}` },
  });
  expect(userinfo.status).toBe(401);
});
