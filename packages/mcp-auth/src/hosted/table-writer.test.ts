/**
 * What an attacker who can write the table but lacks the server key cannot do: act as another user.
 * The twins are in table-writer.twin.test.ts. Removing rows, and restoring an older copy, are in
 * docs/exceptions.md.
 */
import type { JsonObject, RecordKey } from "@oauth-broker/oauth-core";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { BACK, openStubServerFixture } from "../testing/server-fixture.ts";
import { AUDIENCE, plantServerKey, SAME, SOURCE, startSession, testSessions, WHO } from "../testing/test-sessions.ts";
import { indexKey } from "./sessions/user-sessions.ts";
import { overwriteRow } from "../testing/record-stores.ts";

/** As a release without MACs wrote it. */
function asBefore(data: JsonObject): JsonObject {
  return { ...Object.fromEntries(Object.entries(data).filter(([name]) => name !== "mac")), v: 1 };
}

const INVALID_GRANT = expect.objectContaining({ code: "invalid_grant" });

describe("a session whose row was written by another", () => {
  it.each<[string, JsonObject]>([
    ["user", { user: "T1:VICTIM" }],
    ["client", { clientId: "another" }],
    ["scope", { scope: ["read", "write", "admin"] }],
    ["vendor", { vendor: "example2" }],
    ["generation", { generation: 7 }],
    ["start", { startedAt: 0 }],
  ])("bar#TS-3 with another %s is invalid", async (_what, change) => {
    const { sessions, records, session, tokens } = await startSession();
    await overwriteRow(records, { kind: "session", id: session.id }, (data) => ({ ...data, ...change }));
    expect(await sessions.identify(tokens.accessToken)).toBeUndefined();
    expect(await sessions.find(tokens.refreshToken)).toBeUndefined();
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await sessions.revoke(tokens.refreshToken, WHO.clientId)).toBeUndefined();
  });

  it("bar#TS-3 with a token of the writer's own among its hashes is invalid", async () => {
    const { sessions, records } = testSessions();
    const victim = await sessions.start({ ...WHO, user: "T1:VICTIM" });
    const mine = await sessions.start(WHO);
    const [from, at] = [
      { kind: "session", id: mine.session.id },
      { kind: "session", id: victim.session.id },
    ];
    const { access, refreshHash } = (await records.get(from))?.data ?? {};
    await overwriteRow(records, from, (data) => ({ ...data, user: "T1:VICTIM" }));
    await overwriteRow(records, at, (data) => ({ ...data, access: access ?? [], refreshHash: refreshHash ?? "" }));
    for (const { tokens } of [mine, victim]) expect(await sessions.identify(tokens.accessToken)).toBeUndefined();
  });

  it("bar#TS-3 moved to the place of another session, or another kind, is invalid", async () => {
    const { sessions, records } = testSessions();
    const victim = await sessions.start({ ...WHO, user: "T1:VICTIM" });
    const mine = await sessions.start(WHO);
    const from = { kind: "session", id: victim.session.id };
    await overwriteRow(records, from, (data) => data, { key: { kind: "session", id: mine.session.id } });
    expect(await sessions.identify(mine.tokens.accessToken)).toBeUndefined();
    await expect(sessions.refresh(mine.tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
  });

  it("bar#TS-3 restored after its end, or kept beyond it, is invalid", async () => {
    const { sessions, records, clock } = testSessions();
    const [ended, kept] = [await sessions.start(WHO), await sessions.start(WHO)];
    await sessions.end(ended.session.id);
    await overwriteRow(records, { kind: "session", id: ended.session.id }, (data) => data, { stage: "live" });
    expect(await sessions.identify(ended.tokens.accessToken)).toBeUndefined();
    const later = { expiresAt: clock() + 365 * 86_400 };
    await overwriteRow(records, { kind: "session", id: kept.session.id }, (data) => data, later);
    expect(await sessions.find(kept.tokens.refreshToken)).toBeUndefined();
  });

  it("of a release before records had MACs is refused, and its user signs in once again", async () => {
    const { sessions, records, session, tokens } = await startSession();
    await overwriteRow(records, { kind: "session", id: session.id }, asBefore);
    expect(await sessions.identify(tokens.accessToken)).toBeUndefined();
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toThrow(INVALID_GRANT);
    expect(await sessions.identify((await sessions.start(WHO)).tokens.accessToken)).toBeDefined();
  });

  it("bar#TS-3 is not hidden from the end of all by another's index", async () => {
    const test = testSessions();
    const { sessions, records } = test;
    const mine = await sessions.start(WHO);
    const victim = await sessions.start({ ...WHO, user: "T1:VICTIM" });
    const place = { audience: AUDIENCE, source: SOURCE, serverKey: test.serverKey };
    const [from, at] = [await indexKey(WHO.user, place), await indexKey("T1:VICTIM", place)];
    await overwriteRow(records, from, (data) => data, { key: at });
    // The victim's sessions cannot be determined any more; those of the writer are not ended in
    // their place.
    expect(await sessions.endAll("T1:VICTIM")).toBe(0);
    for (const { tokens } of [mine, victim]) expect(await sessions.identify(tokens.accessToken)).toBeDefined();
  });
});

describe("a flow whose row was written by another", () => {
  const fixture = ofEachTest(() => openStubServerFixture({ callback: { registration: { hosts: [] } } }));

  it.each<[string, JsonObject]>([
    ["client", { clientId: "other" }],
    ["redirect URI", { redirectUri: "https://evil.example/back" }],
    ["challenge", { codeChallenge: "A".repeat(43) }],
    ["scope", { scope: ["read", "write", "admin"] }],
    ["browser", { cookieHash: "A".repeat(43) }],
  ])("bar#TS-3 with another %s ends at the callback and at /token", async (_what, change) => {
    const browser = fixture.browser();
    const vendor = await browser.approve();
    const keyOf = (handle = ""): RecordKey => ({ kind: "authorization", id: handle.split(".")[0] ?? "" });
    await overwriteRow(fixture.table, keyOf(vendor.searchParams.get("state") ?? ""), (data) => ({
      ...data,
      ...change,
    }));
    const answer = await browser.get(await browser.consent(vendor));
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
    const code = await fixture.codeOf();
    await overwriteRow(fixture.table, keyOf(code), (data) => ({ ...data, ...change }));
    expect((await fixture.redeem(code)).body["error"]).toBe("invalid_grant");
  });

  it("bar#TS-3 with the stage of a code set back is not redeemed a second time", async () => {
    const code = await fixture.codeOf();
    expect((await fixture.redeem(code)).status).toBe(200);
    const key = { kind: "authorization", id: code.split(".")[0] ?? "" };
    await overwriteRow(fixture.table, key, (data) => data, { stage: "parked" });
    expect((await fixture.redeem(code)).body["error"]).toBe("invalid_grant");
  });

  it("bar#TS-3 of a client whose redirect URIs were changed is refused as unknown", async () => {
    const { body } = await fixture.register({ redirect_uris: [BACK], client_name: "App" });
    const id = String(body["client_id"]);
    const asked = { client_id: id, redirect_uri: BACK };
    expect((await fixture.browser().authorize(asked)).status).toBe(200);
    await overwriteRow(fixture.table, { kind: "client", id }, (data) => ({
      ...data,
      redirectUris: ["https://evil.example/"],
    }));
    const answer = await fixture.browser().authorize({ ...asked, redirect_uri: "https://evil.example/" });
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
  });
});

describe("a server key that a writer of the table planted", () => {
  it.each([false, true])(
    "bar#TS-7 makes no user, with or without the operator's consent to replace it (%s)",
    async (adoptUnsealed) => {
      const { accessToken, start } = await plantServerKey();
      const found = start(adoptUnsealed).identify(accessToken);
      if (adoptUnsealed) expect(await found).toBeUndefined();
      else await expect(found).rejects.toThrow(expect.objectContaining({ code: "temporarily_unavailable" }));
    },
  );
});
