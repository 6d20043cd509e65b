/** Storage as deployments have it: a file and a key file; a table and KMS; a table alone. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "@oauth-broker/oauth-core";
import { createLog } from "@oauth-broker/service";
import { fixedClock, shared, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { startDynamoDb, startKms } from "@oauth-broker/simulators/aws";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Sessions } from "./hosted/sessions/sessions.ts";
import { openStorage, type Storage } from "./storage.ts";
import { NOW, SAME, sessionsOn, WHO } from "./testing/test-sessions.ts";

const UNAVAILABLE = expect.objectContaining({ code: "temporarily_unavailable" });
const LINK = { user: WHO.user, vendor: "example", issuer: "https://issuer.example" };
const TOKENS = { accessToken: new Secret("vendor-token-1"), tokenType: "Bearer" };

const dynamo = shared(startDynamoDb);
const kms = shared(startKms);
let folder: string;
const lines: string[] = [];
const clock = fixedClock(NOW);

beforeAll(() => {
  // The SDK's own variables, as a deployment with private endpoints sets them.
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = dynamo.endpoint;
  process.env["AWS_ENDPOINT_URL_KMS"] = kms.endpoint;
});
afterAll(() => {
  delete process.env["AWS_ENDPOINT_URL_DYNAMODB"];
  delete process.env["AWS_ENDPOINT_URL_KMS"];
});
beforeEach(() => {
  folder = temporaryFolder();
  lines.length = 0;
});

/** As a process of the server opens it. */
async function open(environment: Record<string, string>): Promise<{ storage: Storage; sessions: Sessions }> {
  const log = createLog({ write: (line) => void lines.push(line) });
  const storage = await openStorage({ now: clock, log, environment: { DATA_DIR: folder, ...environment } });
  onTestFinished(() => storage.close());
  return { storage, sessions: sessionsOn(storage, clock) };
}

async function onTable(more: Record<string, string> = {}): Promise<Record<string, string>> {
  return { DB_TABLE_NAME: await dynamo.createTable(), DB_TABLE_REGION: dynamo.region, ...more };
}

describe("storage without a table", () => {
  it("is one file and a key file; sessions and tokens outlive the process", async () => {
    const before = await open({});
    const { session, tokens } = await before.sessions.start(WHO);
    await before.storage.tokens.put(LINK, TOKENS);
    await before.storage.close();
    const after = await open({});
    expect(await after.sessions.identify(tokens.accessToken)).toMatchObject(session);
    expect((await after.storage.tokens.get(LINK))?.tokens.accessToken.reveal()).toBe("vendor-token-1");
    await after.storage.ping();
    await after.storage.close();
    expect(readdirSync(folder).toSorted()).toEqual(["tokens.sqlite", "tokens.sqlite.key"]);
    const bytes = readFileSync(join(folder, "tokens.sqlite"), "latin1");
    expect(bytes).toContain(session.id);
    for (const secret of [tokens.accessToken, tokens.refreshToken]) expect(bytes).not.toContain(secret.slice(40));
    expect(bytes).not.toContain("vendor-token-1");
  });

  it("serves two processes at once", async () => {
    const [here, there] = [await open({}), await open({})];
    const { tokens } = await here.sessions.start(WHO);
    const answers = await Promise.all(
      [here, there, here, there].map(({ sessions }) => sessions.refresh(tokens.refreshToken, SAME)),
    );
    expect(new Set(answers.map(({ refreshToken }) => refreshToken)).size).toBe(1);
    expect(await there.sessions.identify(answers[0]?.accessToken ?? "")).toBeDefined();
  });
});

describe("storage on a table under KMS", () => {
  it("keeps tokens and sessions in one table, and asks KMS once per process", async () => {
    const environment = await onTable({
      TOKEN_ENCRYPTION_KMS_KEY_ID: kms.createKey(),
      TOKEN_ENCRYPTION_MODE: "encrypted",
    });
    const here = await open(environment);
    const { tokens } = await here.sessions.start(WHO);
    await here.storage.tokens.put(LINK, TOKENS);
    const there = await open(environment);
    const before = kms.calls()["Decrypt"] ?? 0;
    for (let call = 0; call < 10; call += 1) expect(await there.sessions.identify(tokens.accessToken)).toBeDefined();
    expect((kms.calls()["Decrypt"] ?? 0) - before).toBe(1);
    const items = await dynamo.items(environment["DB_TABLE_NAME"] ?? "");
    const kinds = items.map(({ sk }) => (sk as { readonly S: string }).S).toSorted();
    expect(kinds).toEqual(["KIND#server-key", "KIND#session", "KIND#user-sessions", "VENDOR#example"]);
    const raw = JSON.stringify(items);
    for (const secret of [tokens.accessToken, tokens.refreshToken]) expect(raw).not.toContain(secret.slice(40));
    expect(raw).not.toContain("vendor-token-1");
    // An operator's list shows links, and nothing else of the table.
    const links = [];
    for await (const link of here.storage.tokens.links()) links.push(link);
    expect(links).toEqual([{ user: WHO.user, vendor: "example", status: "active" }]);
  });

  it("starts while KMS is away, answers 503, and goes on when it is back", async () => {
    const environment = await onTable({ TOKEN_ENCRYPTION_KMS_KEY_ID: kms.createKey() });
    const { tokens } = await (await open(environment)).sessions.start(WHO);
    kms.fault({ kind: "unavailable" });
    const { sessions } = await open(environment);
    await expect(sessions.identify(tokens.accessToken)).rejects.toThrow(UNAVAILABLE);
    await expect(sessions.refresh(tokens.refreshToken, SAME)).rejects.toThrow(UNAVAILABLE);
    kms.fault(undefined);
    expect(await sessions.identify(tokens.accessToken)).toBeDefined();
    await expect(sessions.refresh(tokens.refreshToken, SAME)).resolves.toBeDefined();
  });

  it("does not start with a key that may not be used", async () => {
    const unknown = kms.createKey().replace(/[0-9a-f]{12}$/, "000000000000");
    await expect(open(await onTable({ TOKEN_ENCRYPTION_KMS_KEY_ID: unknown }))).rejects.toThrow(
      expect.objectContaining({ code: "key_service_refused" }),
    );
  });
});

describe("storage on a table alone", () => {
  it("has no keys, says so, and ends its sessions when keys come", async () => {
    const environment = await onTable();
    const before = await open(environment);
    expect(before.storage.keys).toBeUndefined();
    expect(lines.join("")).toContain('"level":"warn"');
    expect(lines.join("")).toContain("no_encryption");
    const { tokens } = await before.sessions.start(WHO);
    const after = await open({ ...environment, TOKEN_ENCRYPTION_KMS_KEY_ID: kms.createKey() });
    await expect(after.sessions.identify(tokens.accessToken)).rejects.toThrow(UNAVAILABLE);
    await expect(after.sessions.start(WHO)).rejects.toThrow(UNAVAILABLE);
    const key = { kind: "server-key", id: "server" };
    expect(await after.storage.records.get(key)).toMatchObject({ stage: "plain" });
    const adopting = sessionsOn({ ...after.storage, adoptUnsealed: true }, clock);
    expect(await adopting.identify(tokens.accessToken)).toBeUndefined();
    expect(await after.storage.records.get(key)).toMatchObject({ stage: "sealed" });
    const next = await adopting.start(WHO);
    // The process that refused tries again, and so does every later one, without the operator's
    // consent.
    expect(await after.sessions.identify(next.tokens.accessToken)).toBeDefined();
    // Where the variable is still set at the next start: the key is sealed, and nothing ends.
    const sealed = await after.storage.records.get(key);
    const kept = sessionsOn({ ...after.storage, adoptUnsealed: true }, clock);
    await expect(kept.refresh(next.tokens.refreshToken, SAME)).resolves.toBeDefined();
    expect(await after.storage.records.get(key)).toEqual(sealed);
    // A process without the key configured no longer has it after a restart.
    const late = await open(environment);
    await expect(late.sessions.identify(tokens.accessToken)).rejects.toThrow(UNAVAILABLE);
  });

  it("is refused in mode encrypted", async () => {
    await expect(open(await onTable({ TOKEN_ENCRYPTION_MODE: "encrypted" }))).rejects.toThrow(
      expect.objectContaining({ code: "key_missing" }),
    );
  });

  it("that is missing starts, and is not ready", async () => {
    const { storage, sessions } = await open({ DB_TABLE_NAME: "no-such-table", DB_TABLE_REGION: dynamo.region });
    await expect(storage.ping()).rejects.toThrow(UNAVAILABLE);
    await expect(sessions.start(WHO)).rejects.toThrow(UNAVAILABLE);
  });
});
