/**
 * The twins of table-writer.test.ts and another-vendor.test.ts: with one defence off, the attack
 * succeeds.
 */
import { randomBytes } from "node:crypto";
import type { KeyWrapper } from "@oauth-broker/oauth-core";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { expect, it } from "vitest";
import * as recordMac from "../../../token-store/src/crypto/record-mac.ts";
import { overwriteRow } from "../testing/record-stores.ts";
import { AUDIENCE, SOURCE, testSessions, WHO } from "../testing/test-sessions.ts";
import { SESSIONS_OF_ONE } from "./link-policy/link-policy.ts";
import * as sources from "./records/identity-source.ts";
import * as serverKeys from "./records/server-key.ts";
import { createSessions } from "./sessions/sessions.ts";

it("without sources user `T1:U1` of one vendor is that of the next (twin of bar#RS-2)", async () => {
  weaken(sources, () => ({ isSameSource: () => true }));
  const { sessions, again } = testSessions();
  const { tokens } = await sessions.start(WHO);
  const after = again({ source: { vendor: "another", issuer: "https://another.example" } });
  expect(await after.identify(tokens.accessToken)).toMatchObject({ user: WHO.user });
});

it("without the MAC a writer of the table is any user (twin of bar#TS-3)", async () => {
  weaken(recordMac, () => ({ isRecordMac: (mac) => mac !== undefined }));
  const { sessions, records } = testSessions();
  const { session, tokens } = await sessions.start(WHO);
  const key = { kind: "session", id: session.id };
  await overwriteRow(records, key, (data) => ({ ...data, user: "T1:VICTIM" }));
  expect(await sessions.identify(tokens.accessToken)).toMatchObject({ user: "T1:VICTIM" });
});

it("a planted server key that is taken over makes any user (twin of bar#TS-7)", async () => {
  const planted = randomBytes(32);
  const keys: KeyWrapper = {
    newDataKey: async () => ({ dataKey: Buffer.alloc(32, 5), wrapped: "wrapped" }),
    unwrap: async () => Buffer.alloc(32, 5),
  };
  const context = { environment: "test", table: "tokens" };
  const { clock } = testSessions();
  const table = memoryRecordStore({ now: clock });
  const data = { v: 1, key: planted.toString("base64url") };
  await table.create({ key: { kind: "server-key", id: "server" }, stage: "plain", data, expiresAt: 9_000_000_000 });
  const deps = {
    audience: AUDIENCE,
    source: SOURCE,
    signInGeneration: async () => 0,
    now: clock,
    links: SESSIONS_OF_ONE,
  };
  const forged = createSessions({
    ...serverKeys.createServerRecords({ records: table, keys: undefined, context }),
    ...deps,
  });
  const { tokens } = await forged.start({ ...WHO, user: "T1:VICTIM" });
  weaken(serverKeys, () => ({ keyInPlaceOfUnsealed: () => planted }));
  const server = createSessions({ ...serverKeys.createServerRecords({ records: table, keys, context }), ...deps });
  expect(await server.identify(tokens.accessToken)).toMatchObject({ user: "T1:VICTIM" });
});
