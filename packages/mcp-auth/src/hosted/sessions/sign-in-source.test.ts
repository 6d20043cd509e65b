/** Which sign-in vendor a server's sessions are of, and what happens when the operator sets another. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OAuthError, type RecordStore } from "@oauth-broker/oauth-core";
import { createLog } from "@oauth-broker/service";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Environment, loadSettings } from "../../config.ts";
import { startServer } from "../../start.ts";
import { openStorage } from "../../storage.ts";
import { loadHosted, SERVER, SEVERAL } from "../../testing/environments.ts";
import { overwriteRow } from "../../testing/record-stores.ts";
import { AUDIENCE, NOW, SAME, SOURCE, testSessions, type TestSessions, WHO } from "../../testing/test-sessions.ts";
import { createSignIns } from "../pages/sign-ins.ts";
import type { Sessions } from "./sessions.ts";
import { createSignInGeneration } from "./sign-in-generation.ts";
import { claimSignIn, requireSignIn } from "./sign-in-source.ts";

const OTHER = { vendor: "other", issuer: "https://other.example" };
const KEY = { kind: "sign-in-source", id: hashOf(AUDIENCE) };
const clock = fixedClock(NOW);

describe("the sign-in vendor of a table", () => {
  let test: TestSessions;
  let table: RecordStore;
  let records: RecordStore;
  beforeEach(() => {
    test = testSessions();
    ({ records: table, authenticated: records } = test);
  });
  const claim = (source = SOURCE, adopt = false, audience = AUDIENCE) =>
    claimSignIn({ records, audience, source }, { adopt });

  it("is that of the first start, and stays", async () => {
    expect(await claim()).toBeUndefined();
    expect(await claim()).toBeUndefined();
    expect(await claim(OTHER)).toEqual(SOURCE);
    expect(await claim({ ...SOURCE, issuer: "https://elsewhere.example" })).toEqual(SOURCE);
    expect(await claim()).toBeUndefined();
  });

  it("changes when the operator adopts another, and the previous one is then refused", async () => {
    await claim();
    expect(await claim(OTHER, true)).toBeUndefined();
    expect(await claim(OTHER)).toBeUndefined();
    expect(await claim()).toEqual(OTHER);
  });

  it("bar#RS-2 ends the sessions of the one before for good: a return to it revives none", async () => {
    const isAlive = async (sessions: Sessions, { tokens }: Awaited<ReturnType<Sessions["start"]>>) => [
      (await sessions.identify(tokens.accessToken)) !== undefined,
      (await sessions.find(tokens.refreshToken)) !== undefined,
    ];
    await claim(SOURCE, true);
    const old = await test.sessions.start(WHO);
    // The same vendor again is no adoption.
    await claim(SOURCE, true);
    expect(await isAlive(test.again(), old)).toEqual([true, true]);
    await claim(OTHER, true);
    expect(await isAlive(test.again(), old)).toEqual([false, false]);
    await claim(SOURCE, true);
    const after = test.again();
    expect(await isAlive(after, old)).toEqual([false, false]);
    await expect(after.refresh(old.tokens.refreshToken, SAME)).rejects.toMatchObject({ code: "invalid_grant" });
    expect(await after.revoke(old.tokens.refreshToken, WHO.clientId)).toBeUndefined();
    const present = await after.start(WHO);
    expect(await isAlive(test.again(), present)).toEqual([true, true]);
    expect((await records.get(KEY))?.data).toEqual({ v: 1, ...SOURCE, generation: 2 });
  });

  it("bar#RS-2 ends the sign-ins of the pages for good, too", async () => {
    const signIns = (source = SOURCE) => {
      const signInGeneration = createSignInGeneration({ records, audience: AUDIENCE });
      const of = { serverKey: test.serverKey, now: test.clock, deploymentUrl: "https://server.example" };
      return createSignIns({ ...of, records, source, signInGeneration });
    };
    await claim();
    const cookie = (await signIns().start("u1", "Ada")).split(";")[0];
    expect(await signIns().read(cookie)).toMatchObject({ user: "u1" });
    await claim(OTHER, true);
    expect(await signIns(OTHER).read(cookie)).toBeUndefined();
    await claim(SOURCE, true);
    expect(await signIns().read(cookie)).toBeUndefined();
    const next = (await signIns().start("u1", "Ada")).split(";")[0];
    expect(await signIns().read(next)).toMatchObject({ user: "u1" });
  });

  it("follows VENDOR without ending sessions: they are valid again after a return", async () => {
    const follow = (source = SOURCE) =>
      claimSignIn({ records, audience: AUDIENCE, source }, { adopt: true, endsSessions: false });
    await follow();
    const { tokens } = await test.sessions.start(WHO);
    await follow(OTHER);
    await follow();
    expect(await test.again().identify(tokens.accessToken)).toMatchObject({ user: WHO.user });
  });

  it("of a row of the release before is generation 0, as its sessions are", async () => {
    await records.create({ key: KEY, stage: "kept", data: { v: 1, ...SOURCE }, expiresAt: 9_000_000_000 });
    const { session, tokens } = await test.sessions.start(WHO);
    await overwriteRow(records, { kind: "session", id: session.id }, ({ signInGeneration: began, ...before }) => {
      expect(began).toBe(0);
      return before;
    });
    expect(await test.again().identify(tokens.accessToken)).toBeDefined();
    await claim(OTHER, true);
    expect((await records.get(KEY))?.data).toEqual({ v: 1, ...OTHER, generation: 1 });
  });

  it("is one for each server on the table", async () => {
    await claim();
    expect(await claim(OTHER, false, "https://another.example/mcp")).toBeUndefined();
    expect(await claim()).toBeUndefined();
  });

  it("is one over all processes that start at once", async () => {
    const sources = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? SOURCE : OTHER));
    const answers = await Promise.all(sources.map((source) => claim(source)));
    const winner = sources[answers.indexOf(undefined)];
    for (const [index, answer] of answers.entries())
      expect(answer).toEqual(sources[index] === winner ? undefined : winner);
  });

  it("is not what a table writer says, who has no key", async () => {
    await claim();
    await table.advance(KEY, { stage: "kept", expect: { vendor: SOURCE.vendor } }, { stage: "kept", set: OTHER });
    await expect(claim(OTHER)).rejects.toEqual(expect.objectContaining({ code: "temporarily_unavailable" }));
    await expect(claim()).rejects.toThrow(OAuthError);
    expect(await claim(SOURCE, true)).toBeUndefined();
    expect(await claim(OTHER)).toEqual(SOURCE);
  });

  it("is asked again of a record of another release", async () => {
    await claim();
    await records.advance(
      KEY,
      { stage: "kept", expect: { vendor: SOURCE.vendor } },
      { stage: "kept", set: { ...OTHER, v: 2 } },
    );
    await expect(claim()).rejects.toEqual(expect.objectContaining({ code: "temporarily_unavailable" }));
  });
});

describe("a server's start", () => {
  let folder: string;
  const log = createLog({ write: () => undefined });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sign-in-"));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  /** @returns the vendor that the table then names */
  async function begin(environment: Environment): Promise<unknown> {
    const settings = loadHosted({ ...environment, DATA_DIR: folder });
    const key = { kind: "sign-in-source", id: hashOf(`${settings.deploymentUrl}/mcp`) };
    const storage = await openStorage({ now: clock, log, environment: { DATA_DIR: folder } });
    try {
      await requireSignIn(settings, storage);
      // With VENDOR nothing is awaited.
      return await vi.waitFor(async () => {
        const { vendor } = (await storage.records.get(key))?.data ?? {};
        expect(vendor).toBe(settings.vendor.vendor.id);
        return vendor;
      });
    } finally {
      await storage.close();
    }
  }
  const AS_BEFORE = {
    ...SERVER,
    OAUTH_CLIENT_METADATA_HOSTS: "client.example.com",
    VENDOR: "main",
    VENDOR_ISSUER: SEVERAL.VENDOR_MAIN_ISSUER,
    VENDOR_SCOPES: SEVERAL.VENDOR_MAIN_SCOPES,
  };

  it("with VENDORS and the vendor it had before goes on", async () => {
    for (const environment of [AS_BEFORE, SEVERAL, SEVERAL]) expect(await begin(environment)).toBe("main");
  });

  it("is refused with another sign-in vendor, by name, until the operator adopts it", async () => {
    await begin(SEVERAL);
    const other = { ...SEVERAL, SIGN_IN: "slack" };
    await expect(begin(other)).rejects.toThrow(
      /SIGN_IN is another vendor than the one whose users' sessions are in this table: main at https:\/\/main\.example\.com[^]*SIGN_IN=main[^]*ADOPT_SIGN_IN=true/,
    );
    await begin({ ...other, ADOPT_SIGN_IN: "true" });
    await begin(other);
    await expect(begin(SEVERAL)).rejects.toThrow("slack at https://mcp.slack.com");
  });

  it("is not refused with VENDOR alone, whatever the table has", async () => {
    expect(await begin({ ...SEVERAL, SIGN_IN: "slack" })).toBe("slack");
    expect(await begin(AS_BEFORE)).toBe("main");
  });

  it("does not listen when it is refused", async () => {
    const start = (given: Environment) => {
      const environment = { ...given, PORT: "0", DATA_DIR: folder };
      const settings = loadSettings(environment);
      return startServer({ name: "test", version: "1.0.0", tools: [] }, settings, { log, environment });
    };
    const running = await start(SEVERAL);
    await running.stop();
    await expect(start({ ...SEVERAL, SIGN_IN: "slack" })).rejects.toThrow("SIGN_IN is another vendor");
  });
});
