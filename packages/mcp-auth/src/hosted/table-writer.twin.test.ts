/**
 * The twins of table-writer.test.ts and another-vendor.test.ts: with one defence off, the attack
 * succeeds.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import * as recordMac from "../../../token-store/src/crypto/record-mac.ts";
import { overwriteRow } from "../testing/record-stores.ts";
import { plantServerKey, startSession, WHO } from "../testing/test-sessions.ts";
import * as sources from "./records/identity-source.ts";
import * as serverKeys from "./records/server-key.ts";

it("without sources user `T1:U1` of one vendor is that of the next (twin of bar#RS-2)", async () => {
  weaken(sources, () => ({ isSameSource: () => true }));
  const { again, tokens } = await startSession();
  const after = again({ source: { vendor: "another", issuer: "https://another.example" } });
  expect(await after.identify(tokens.accessToken)).toMatchObject({ user: WHO.user });
});

it("without the MAC a writer of the table is any user (twin of bar#TS-3)", async () => {
  weaken(recordMac, () => ({ isRecordMac: (mac) => mac !== undefined }));
  const { sessions, records, session, tokens } = await startSession();
  const key = { kind: "session", id: session.id };
  await overwriteRow(records, key, (data) => ({ ...data, user: "T1:VICTIM" }));
  expect(await sessions.identify(tokens.accessToken)).toMatchObject({ user: "T1:VICTIM" });
});

it("a planted server key that is taken over makes any user (twin of bar#TS-7)", async () => {
  const { planted, accessToken, start } = await plantServerKey();
  weaken(serverKeys, () => ({ keyInPlaceOfUnsealed: () => planted }));
  expect(await start().identify(accessToken)).toMatchObject({ user: "T1:VICTIM" });
});
