/** The twin of authenticated-records.test.ts: without `isRecordMac` a table writer is any user. */
import { fixedClock, weaken } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import * as recordMac from "../crypto/record-mac.ts";
import { authenticatedRecords, oneMacKey } from "./authenticated-records.ts";
import { memoryRecordStore } from "./memory/record-store.ts";

it("without the MAC a row is what a table writer made it (twin of bar#TS-3)", async () => {
  weaken(recordMac, () => ({ isRecordMac: (mac) => mac !== undefined }));
  const now = fixedClock(1_700_000_000);
  const table = memoryRecordStore({ now });
  const store = authenticatedRecords({ records: table, keys: oneMacKey(async () => Buffer.alloc(32, 7)) });
  const [mine, other] = [
    { kind: "session", id: "s1" },
    { kind: "session", id: "s2" },
  ];
  await store.create({ key: mine, stage: "live", data: { user: "attacker" }, expiresAt: now() + 600 });
  const row = await table.get(mine);
  if (row === undefined) throw new Error("there is no row");
  await table.create({ ...row, key: other, data: { ...row.data, user: "victim" } });
  expect(await store.get(other)).toMatchObject({ data: { user: "victim" } });
});
