/**
 * What a backend may rely on, with either implementation: one suite for the broker's client and for
 * `direct`. Each runs it against a real OpenID provider that rotates refresh tokens and sends
 * `iss`.
 */
import type { Session } from "@oauth-broker/broker-client";
import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { SCOPE } from "../../support/broker/configuration.ts";
import {
  connectWith,
  expectFresh,
  plantTokens,
  REQUEST,
  returnFromVendor,
  withParameters,
} from "../../support/connect-client/harness.ts";
import { openDirectly, openThroughBroker } from "../../support/connect-client/implementations.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const IMPLEMENTATIONS = [
  ["through the broker", openThroughBroker],
  ["directly", openDirectly],
] as const;

describe.each(IMPLEMENTATIONS)("a connect client, %s", (_, open) => {
  const harness = shared(open);
  const redeemed = (): number => harness.vendor.requests().filter(({ path }) => path === "/token").length;
  const expectRefused = async (
    callback: URL,
    session: unknown,
    refusal: object,
    client = harness.client,
  ): Promise<void> => expect(client.finish(callback, session)).rejects.toMatchObject(refusal);
  const becauseOf = (reason: string, code?: string): object => ({ ...(code && { code }), details: { reason } });

  describe("start and finish", () => {
    it("connects two users at the same time, each to their own account", async () => {
      const [one, two] = await Promise.all([
        returnFromVendor(harness.client, { account: "user" }),
        returnFromVendor(harness.client, { account: "operator" }),
      ]);
      const subjects = await Promise.all(
        [one, two].map(async ({ callback, session }) => {
          const tokens = plantTokens(await harness.client.finish(callback, session));
          expect(tokens).toMatchObject({ tokenType: "Bearer", vendor: "op", scope: SCOPE, vendorData: {} });
          return decodeJwt(tokens.vendorIdToken ?? "").sub;
        }),
      );
      expect(subjects).toEqual(["user", "operator"]);
    });

    it("gives a session that JSON keeps whole, and takes the callback as path and query too", async () => {
      const { session, callback } = await returnFromVendor(harness.client);
      const kept = JSON.parse(JSON.stringify(session)) as Session;
      expect(kept).toEqual(session);
      const tokens = await harness.again().finish(`${callback.pathname}${callback.search}`, kept);
      expect(plantTokens(tokens).vendor).toBe("op");
    });

    it("makes state, verifier and nonce anew for each user, and puts only state into the URL", async () => {
      const [one, two] = await Promise.all([harness.client.start(REQUEST), harness.client.start(REQUEST)]);
      expect(one.session.state).not.toBe(two.session.state);
      expect(one.session.codeVerifier).not.toBe(two.session.codeVerifier);
      expect(one.session.codeVerifier).toMatch(/^[\w-]{43}$/);
      expect(one.url).not.toContain(one.session.codeVerifier);
    });
  });

  describe("the verifier lives in the session of the user who started", () => {
    it("bar#XA-7 refuses a callback in the session of another user, and without a session, and sends nothing", async () => {
      const attacker = await returnFromVendor(harness.client);
      const victim = await returnFromVendor(harness.client);
      const before = redeemed();
      await expectRefused(attacker.callback, victim.session, becauseOf("state_mismatch", "invalid_session"));
      for (const none of [undefined, null])
        await expectRefused(attacker.callback, none, becauseOf("missing", "invalid_session"));
      expect(redeemed()).toBe(before);
      // The victim's own flow is unharmed.
      plantTokens(await harness.client.finish(victim.callback, victim.session));
    });

    it("bar#XA-7 gets no tokens for a code without its own verifier, even with a matching state", async () => {
      const one = await returnFromVendor(harness.client);
      const two = await returnFromVendor(harness.client);
      const forged = { ...two.session, state: one.session.state };
      await expectRefused(one.callback, forged, { code: "invalid_grant" });
    });

    it("refuses a session that is invalid, of another client, or too old", async () => {
      const { session, callback } = await returnFromVendor(harness.client);
      for (const bad of [{}, "session", { ...session, v: 2 }, { ...session, state: "" }, { ...session, nonce: 1 }]) {
        await expectRefused(callback, bad, becauseOf("malformed"));
      }
      await expectRefused(callback, session, becauseOf("other_client"), harness.other());
      await expectRefused(callback, { ...session, context: "x" }, becauseOf("other_client"));
      await expectRefused(callback, { ...session, expiresAt: 1 }, becauseOf("expired"));
    });
  });

  describe("a callback", () => {
    it("bar#XA-8 works once: a reload is stopped here, and in another process by the server", async () => {
      const { session, callback } = await returnFromVendor(harness.client);
      plantTokens(await harness.client.finish(callback, session));
      const before = redeemed();
      await expectRefused(callback, session, becauseOf("used", "invalid_session"));
      expect(redeemed()).toBe(before);
      await expectRefused(callback, session, { code: "invalid_grant" }, harness.again());
    });

    it("works once of two at the same time", async () => {
      const { session, callback } = await returnFromVendor(harness.client);
      const both = await Promise.allSettled([1, 2].map(() => harness.client.finish(callback, session)));
      expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    });

    it.each<[string, string, (parameters: URLSearchParams) => void]>([
      ["rfc9207#2.4 without iss", "missing_issuer", (sent) => sent.delete("iss")],
      ["rfc9207#2.4 with another iss", "issuer_mismatch", (sent) => sent.set("iss", "https://attacker.example")],
      ["rfc9207#2.4 with an empty iss", "issuer_mismatch", (sent) => sent.set("iss", "")],
      ["rfc6749#3.1 with iss twice", "malformed", (sent) => sent.append("iss", "https://attacker.example")],
      ["rfc6749#3.1 with state twice", "malformed", (sent) => sent.append("state", "x")],
      ["rfc6749#3.1 with code twice", "malformed", (sent) => sent.append("code", "x")],
      ["bar#CB-11 with code and error", "malformed", (sent) => sent.append("error", "access_denied")],
    ])("%s is refused, and its code goes nowhere", async (_what, reason, change) => {
      const { session, callback } = await returnFromVendor(harness.client);
      const before = redeemed();
      await expectRefused(withParameters(callback, change), session, becauseOf(reason, "invalid_callback"));
      expect(redeemed()).toBe(before);
      plantTokens(await harness.client.finish(callback, session));
    });

    it("bar#CB-11 without code is refused, and nothing is redeemed", async () => {
      const { session, callback } = await returnFromVendor(harness.client);
      const before = redeemed();
      const bare = withParameters(callback, (sent) => sent.delete("code"));
      // The broker's always has code or error; a vendor's may have neither, which is its error.
      await expectRefused(bare, session, { code: expect.stringMatching(/^(?:invalid_callback|server_error)$/) });
      expect(redeemed()).toBe(before);
    });

    it("rfc9700#4.4.2.2 at another path is refused", async () => {
      const { session, callback } = await returnFromVendor(harness.client);
      const elsewhere = new URL(`/another/callback${callback.search}`, callback);
      await expectRefused(elsewhere, session, becauseOf("wrong_path"));
    });

    it("says that the user cancelled, at the consent and at the sign-in", async () => {
      for (const decision of ["cancel", "cancel-sign-in"] as const) {
        const { session, callback } = await returnFromVendor(harness.client, { decision });
        const details = { vendorError: "access_denied" };
        await expectRefused(callback, session, { name: "BrokerClientError", code: "access_denied", details });
      }
    });

    it("believes no error that does not come with the state and iss of this flow", async () => {
      const { session, callback } = await returnFromVendor(harness.client, { decision: "cancel" });
      const foreign = withParameters(callback, (sent) => sent.set("state", "x"));
      await expectRefused(foreign, session, { code: "invalid_session" });
      const nameless = withParameters(callback, (sent) => sent.delete("iss"));
      await expectRefused(nameless, session, { code: "invalid_callback" });
    });

    it("sends the user through a new flow where the code went to the vendor and the answer is lost", async () => {
      const { session, callback } = await returnFromVendor(harness.client);
      harness.vendor.faults.next("/token", { kind: "lose" });
      await expectRefused(callback, session, { code: "temporarily_unavailable", details: { retry: "restart" } });
      await expectRefused(callback, session, becauseOf("used"));
    });

    it("is refused with an ID token whose signature is wrong", async () => {
      const { session, callback } = await returnFromVendor(harness.client);
      harness.vendor.faults.next("/token", {
        kind: "rewrite",
        rewrite: (answer) => ({ ...answer, id_token: `${String(answer["id_token"]).slice(0, -4)}AAAA` }),
      });
      await expectRefused(callback, session, becauseOf("id_token_invalid", "vendor_response_invalid"));
    });
  });

  describe("refresh", () => {
    it("answers new tokens; the refresh token they replace is dead, and then the user has to authorize again", async () => {
      const { refreshToken = "", connection } = await connectWith(harness.client);
      const tokens = expectFresh(await harness.client.refresh({ refreshToken, connection }));
      expect(tokens.refreshToken).not.toBe(refreshToken);
      expect(tokens.expiresAt).toBeTypeOf("number");
      harness.now.advance(61);
      expect(await harness.client.refresh({ refreshToken, connection })).toEqual({
        outcome: "reauthorize",
        reason: "invalid_grant",
        error: expect.objectContaining({ code: "invalid_grant" }),
      });
    });

    it("goes by the vendor's name where the connection was not kept", async () => {
      const { refreshToken = "" } = await connectWith(harness.client);
      expectFresh(await harness.client.refresh({ refreshToken, vendor: "op" }));
    });

    it("says when to try again while the vendor is down, and the refresh token is as good as before", async () => {
      const { refreshToken = "", connection } = await connectWith(harness.client);
      harness.vendor.faults.next("/token", { kind: "answer", status: 503, headers: { "Retry-After": "7" } });
      expect(await harness.client.refresh({ refreshToken, connection })).toMatchObject({
        outcome: "retry_later",
        retryAfterSeconds: 7,
      });
      harness.now.advance(8);
      expectFresh(await harness.client.refresh({ refreshToken, connection }));
    });

    it("sends the user through a new flow where a rotating refresh token went and its answer is lost", async () => {
      const { refreshToken = "", connection } = await connectWith(harness.client);
      harness.vendor.faults.next("/token", { kind: "lose" });
      expect(await harness.client.refresh({ refreshToken, connection })).toEqual({
        outcome: "reauthorize",
        reason: "response_lost",
        error: expect.objectContaining({ details: expect.objectContaining({ retry: "restart" }) }),
      });
    });

    it("names whose credentials the vendor refuses", async () => {
      const { refreshToken = "", connection } = await connectWith(harness.client);
      harness.vendor.faults.next("/token", { kind: "answer", status: 401, body: '{"error":"invalid_client"}' });
      expect(await harness.client.refresh({ refreshToken, connection })).toEqual({
        outcome: "credentials_rejected",
        source: expect.stringMatching(/^\w+$/),
        error: expect.objectContaining({ code: "vendor_credentials_rejected" }),
      });
    });

    it("sends nothing when the vendor gave no refresh token", async () => {
      const { connection } = await connectWith(harness.client);
      const before = redeemed();
      for (const refreshToken of [undefined, ""]) {
        const refreshed = await harness.client.refresh({ refreshToken, connection });
        expect(refreshed).toEqual({ outcome: "reauthorize", reason: "no_refresh_token" });
      }
      await expect(harness.client.revoke({ token: "", connection })).rejects.toMatchObject({
        code: "invalid_request",
      });
      expect(redeemed()).toBe(before);
    });

    it("throws for an invalid connection", async () => {
      await expect(harness.client.refresh({ refreshToken: "x", connection: "none" })).rejects.toMatchObject({
        code: "invalid_request",
      });
    });
  });

  it("revoke ends the grant, and says so when it is already gone", async () => {
    const { accessToken, refreshToken = "", connection } = await connectWith(harness.client);
    const token = { token: refreshToken, tokenTypeHint: "refresh_token", connection } as const;
    expect(await harness.client.revoke(token)).toEqual({
      outcome: "revoked",
      revoked: expect.stringMatching(/^(token|grant)$/),
    });
    expect(await harness.client.refresh({ refreshToken, connection })).toMatchObject({ outcome: "reauthorize" });
    expect((await harness.client.revoke({ token: accessToken, connection })).outcome).toBe("revoked");
  });

  describe("check", () => {
    const INTROSPECTION = "/token/introspection";

    it("says what the vendor says: the account, the scope, what is missing, and the end; then that it is over", async () => {
      const { accessToken, connection } = await connectWith(harness.client);
      const request = { accessToken, connection, scope: `${SCOPE} api:write` };
      const live = await harness.client.check(request);
      expect(live).toEqual({
        active: true,
        checkedBy: "introspection",
        scope: SCOPE,
        missingScope: "api:write",
        expiresAt: expect.any(Number),
        account: { issuer: harness.vendor.issuer, subject: "user" },
      });
      await harness.client.revoke({ token: accessToken, tokenTypeHint: "access_token", connection });
      expect(await harness.client.check(request)).toEqual({ active: false, checkedBy: "introspection" });
    });

    it("is no dead token while the vendor is down, or answers anything but yes or no", async () => {
      const { accessToken, connection } = await connectWith(harness.client);
      const check = async () => harness.client.check({ accessToken, connection });
      harness.vendor.faults.next(INTROSPECTION, { kind: "answer", status: 503, headers: { "Retry-After": "7" } });
      await expect(check()).rejects.toMatchObject({
        code: "temporarily_unavailable",
        details: { retryAfterSeconds: 7 },
      });
      harness.vendor.faults.next(INTROSPECTION, { kind: "lose" });
      await expect(check()).rejects.toMatchObject({ code: "temporarily_unavailable" });
      harness.vendor.faults.next(INTROSPECTION, { kind: "answer", status: 200, body: '{"active":"yes"}' });
      await expect(check()).rejects.toMatchObject({ code: "vendor_response_invalid" });
      expect(await check()).toMatchObject({ active: true });
    });

    it("refuses a token of another user, and one whose connection is none", async () => {
      const { connection } = await connectWith(harness.client);
      const { session, callback } = await returnFromVendor(harness.client, { account: "operator" });
      const { accessToken } = plantTokens(await harness.client.finish(callback, session));
      await expect(harness.client.check({ accessToken, connection })).rejects.toMatchObject({
        code: "invalid_request",
        details: { reason: "account_mismatch" },
      });
      for (const bad of [{ connection: "none" }, { accessToken: "" }, { accessToken: "a b" }]) {
        const refused = harness.client.check({ accessToken, connection, ...bad });
        await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
      }
    });
  });

  it("bar#VR-5 loses nothing while the vendor is down: the same callback and token work afterwards", async () => {
    const { client, vendor, gate } = harness.gated;
    const { session, callback } = await returnFromVendor(client, { vendor });
    await gate.shut();
    const down: unknown = await client.finish(callback, session).catch((error: unknown) => error);
    expect(down).toMatchObject({ code: "temporarily_unavailable", details: { retryAfterSeconds: 5 } });
    expect(down).not.toHaveProperty("details.retry");
    await gate.open();
    const { refreshToken = "", connection } = plantTokens(await client.finish(callback, session));
    await gate.shut();
    expect(await client.refresh({ refreshToken, connection })).toMatchObject({ outcome: "retry_later" });
    await gate.open();
    harness.now.advance(5);
    expect(await client.refresh({ refreshToken, connection })).toMatchObject({ outcome: "ok" });
  });

  it("names the unreachable server when everything is down", async () => {
    const down = await open();
    const { refreshToken = "", connection } = await connectWith(down.client);
    const { session, callback } = await returnFromVendor(down.client);
    await down.close();
    await expect(down.client.finish(callback, session)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    expect(await down.client.refresh({ refreshToken, connection })).toMatchObject({ outcome: "retry_later" });
    await expect(down.again().start(REQUEST)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    await expect(down.client.revoke({ token: refreshToken, connection })).rejects.toMatchObject({
      code: "temporarily_unavailable",
    });
  });
});
