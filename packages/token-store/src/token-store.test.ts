import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OAuthError, Secret, systemTimer } from "@oauth-broker/oauth-core";
import { fixedClock, shared } from "@oauth-broker/oauth-core/testing";
import { startDynamoDb, startKms } from "@oauth-broker/simulators/aws";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openTokenStore } from "./config.ts";
import { localKeyWrapper } from "./keys/local.ts";
import { memoryTokenRows } from "./storage/memory/token-rows.ts";
import { rowKeyOf } from "./tokens/token-attributes.ts";
import { createTokenStore, type TokenStore, type TokenStoreEvent } from "./token-store.ts";
import { endedToken, linksFixture, listOf } from "./testing/rows/links-fixture.ts";
import { KEY, NOW, TOKENS } from "./testing/rows/records-fixture.ts";
import type { TokenSet } from "./tokens/tokens.ts";

const folder = mkdtempSync(join(tmpdir(), "token-store-"));
const opened: TokenStore[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close(1000)));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the token store", () => {
  it("stores, refreshes under a lease, and returns tokens", async () => {
    const { store, clock } = linksFixture({ mode: "encrypted" });
    expect(await store.get(KEY)).toBeUndefined();
    await store.put(KEY, TOKENS);
    const asked: string[] = [];
    const refresh = async ({ refreshToken }: { refreshToken: Secret }): Promise<TokenSet> => {
      asked.push(refreshToken.reveal());
      return {
        accessToken: new Secret("at-2"),
        refreshToken: new Secret("rt-2"),
        tokenType: "Bearer",
        expiresAt: NOW + 7200,
      };
    };
    expect((await store.withRefreshLease(KEY, refresh))?.version).toBe(1);
    clock.advance(3599);
    const all = await Promise.all(Array.from({ length: 50 }, () => store.withRefreshLease(KEY, refresh)));
    expect(new Set(all.map((stored) => stored?.tokens.accessToken.reveal()))).toEqual(new Set(["at-2"]));
    expect(asked).toEqual(["rt-1"]);
    expect((await store.get(KEY))?.version).toBe(2);
  });

  it("bar#RV-1 revokes here first, and returns the tokens for revocation at the vendor", async () => {
    const { store } = linksFixture({ mode: "encrypted" });
    await store.put(KEY, TOKENS);
    const ended = await Promise.all([store.endLink(KEY), store.endLink(KEY)]);
    const refreshTokens = ended.map((one) => typeof one === "object" && one.tokens.refreshToken?.reveal());
    expect(refreshTokens.filter((one) => one !== false)).toEqual(["rt-1"]);
    expect(await store.get(KEY)).toBeUndefined();
    const never = async (): Promise<TokenSet> => expect.fail("the vendor was asked");
    expect(await store.withRefreshLease(KEY, never, { refused: 1 })).toBeUndefined();
    await store.forgetLink(KEY);
    expect(await store.endLink(KEY)).toBeUndefined();
    await store.put(KEY, TOKENS);
    expect(await store.get(KEY)).toBeDefined();
  });

  it("revokes and replaces a record that cannot be read any more", async () => {
    const { store, rows } = linksFixture({ mode: "encrypted" });
    await store.put(KEY, TOKENS);
    await rows.change(rowKeyOf(KEY), { set: { sealed_access_token: "AQ" }, remove: [] }, {});
    await expect(store.get(KEY)).rejects.toEqual(
      expect.objectContaining({ code: "temporarily_unavailable", extras: { reason: "token_unreadable" } }),
    );
    expect(await store.endLink(KEY)).toBeUndefined();
    expect((await rows.get(rowKeyOf(KEY)))?.attributes["status"]).toBe("revoked");
    await store.put(KEY, TOKENS);
    expect((await store.get(KEY))?.status).toBe("active");
  });

  it("bar#RV-1 returns what it revokes, also when that replaced a record that could not be read", async () => {
    const { store, rows } = linksFixture({ mode: "encrypted" });
    await store.put(KEY, TOKENS);
    await rows.change(rowKeyOf(KEY), { set: { sealed_access_token: "AQ" } }, {});
    const { change } = rows;
    rows.change = async (...args) => {
      rows.change = change;
      await store.put(KEY, { ...TOKENS, accessToken: new Secret("at-2") });
      return change(...args);
    };
    expect(await endedToken(store.endLink(KEY))).toBe("at-2");
  });

  it("lists links, one user's or all, without opening a token", async () => {
    const { store, rows } = linksFixture({ mode: "encrypted" });
    for (const user of ["u1", "u2"]) for (const vendor of ["a", "b"]) await store.put({ ...KEY, user, vendor }, TOKENS);
    await rows.change({ pk: "OTHER", sk: "ROW" }, { set: { x: 1 } }, {});
    await store.endLink({ ...KEY, user: "u2", vendor: "b" });
    expect(await listOf(store.links())).toHaveLength(4);
    expect(await listOf(store.links("u2"))).toEqual([
      { user: "u2", vendor: "a", status: "active" },
      { user: "u2", vendor: "b", status: "revoked" },
    ]);
    expect(await listOf(store.links("u3"))).toEqual([]);
  });
});

describe("opened from the environment", () => {
  const dynamo = shared(startDynamoDb);
  const kms = shared(startKms);
  let keyId: string;
  beforeAll(() => {
    keyId = kms.createKey();
    // The SDK's own variables, as a deployment with private endpoints sets them.
    process.env["AWS_ENDPOINT_URL_DYNAMODB"] = dynamo.endpoint;
    process.env["AWS_ENDPOINT_URL_KMS"] = kms.endpoint;
  });
  afterAll(() => {
    delete process.env["AWS_ENDPOINT_URL_DYNAMODB"];
    delete process.env["AWS_ENDPOINT_URL_KMS"];
  });

  const open = async (environment: Record<string, string>, events: TokenStoreEvent[] = []): Promise<TokenStore> => {
    const store = await openTokenStore({
      environment: { DATA_DIR: folder, ...environment },
      now: fixedClock(NOW),
      onEvent: (event) => events.push(event),
    });
    opened.push(store);
    return store;
  };

  it("is a table and a KMS key if provided: no token in the table, one KMS call", async () => {
    const table = await dynamo.createTable();
    const environment = {
      DB_TABLE_NAME: table,
      DB_TABLE_REGION: dynamo.region,
      TOKEN_ENCRYPTION_KMS_KEY_ID: keyId,
      TOKEN_ENCRYPTION_MODE: "encrypted",
    };
    const store = await open(environment);
    const before = kms.calls()["GenerateDataKey"];
    for (let user = 0; user < 20; user += 1) await store.put({ ...KEY, user: `u${user}` }, TOKENS);
    for (let user = 0; user < 20; user += 1) expect((await store.get({ ...KEY, user: `u${user}` }))?.version).toBe(1);
    expect(kms.calls()["GenerateDataKey"]).toBe((before ?? 0) + 1);
    const raw = JSON.stringify(await dynamo.items(table));
    expect(raw).toContain("USER#u19");
    expect(raw).not.toMatch(/at-1|rt-1/);
    // Another process reads the same rows.
    const sister = await open(environment);
    expect((await sister.get({ ...KEY, user: "u7" }))?.tokens.accessToken.reveal()).toBe("at-1");
    expect(kms.calls()["Decrypt"]).toBe(1);
  });

  it("does not start with a key that may not be used, and starts while KMS is away", async () => {
    const environment = { DB_TABLE_NAME: await dynamo.createTable(), DB_TABLE_REGION: dynamo.region };
    const unknown = keyId.replace(/[0-9a-f]{12}$/, "000000000000");
    await expect(open({ ...environment, TOKEN_ENCRYPTION_KMS_KEY_ID: unknown })).rejects.toEqual(
      expect.objectContaining({ name: "TokenStoreError", code: "key_service_refused" }),
    );
    kms.fault({ kind: "unavailable" });
    const store = await open({ ...environment, TOKEN_ENCRYPTION_KMS_KEY_ID: keyId });
    await expect(store.put(KEY, TOKENS)).rejects.toEqual(
      expect.objectContaining({ code: "temporarily_unavailable", extras: { reason: "kms_unavailable" } }),
    );
    kms.fault(undefined);
    expect((await store.put(KEY, TOKENS)).version).toBe(1);
  });

  it("says that nothing is encrypted in mode bridge without a key", async () => {
    const events: TokenStoreEvent[] = [];
    await open({ DB_TABLE_NAME: await dynamo.createTable(), DB_TABLE_REGION: dynamo.region }, events);
    expect(events).toEqual([{ name: "no_encryption" }]);
  });

  it("is a file and a key file without a table", async () => {
    const store = await open({});
    await store.put(KEY, TOKENS);
    expect(store.mode).toBe("encrypted");
    expect((await store.get(KEY))?.tokens.refreshToken?.reveal()).toBe("rt-1");
  });

  it("answers a key file that is gone with 503, and is an OAuthError", async () => {
    const store = createTokenStore({
      rows: memoryTokenRows(),
      timer: systemTimer,
      keys: localKeyWrapper({ path: join(folder, "none", "key"), create: false }),
      mode: "encrypted",
      environment: "test",
      now: fixedClock(NOW),
    });
    opened.push(store);
    const error = await store.put(KEY, TOKENS).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OAuthError);
    expect(error).toMatchObject({ code: "temporarily_unavailable", extras: { reason: "keys_unavailable" } });
  });
});
