import { expect, it } from "vitest";
import { isRecordMac, recordMac } from "./record-mac.ts";

const KEY = Buffer.alloc(32, 7);
const RECORD = {
  key: { kind: "session", id: "s1" },
  stage: "live",
  expiresAt: 1_700_000_600,
  data: { user: "T1:U1", scope: ["read", "écrire"], count: 1, nested: { b: null, a: true } },
};

it("is the same in every release: another one ends every session", () => {
  expect(recordMac(RECORD, KEY)).toBe("iWjEnour43EfjYltzgX1qY4iByFXQMXpF_LVorBGbO4");
});

it("does not depend on the order of fields, which engines may change", () => {
  const { user, scope, count } = RECORD.data;
  const data = { nested: { a: true, b: null }, count, scope, user };
  expect(recordMac({ ...RECORD, data }, KEY)).toBe(recordMac(RECORD, KEY));
});

it("takes a field without a value for an absent one", () => {
  const data = { aFirst: undefined, ...RECORD.data, nested: { ...RECORD.data.nested, zLast: undefined } };
  expect(recordMac({ ...RECORD, data } as unknown as typeof RECORD, KEY)).toBe(recordMac(RECORD, KEY));
});

it("bar#TS-3 differs wherever parts could be cut differently", () => {
  const same = [
    { ...RECORD, key: { kind: "session", id: "s1l" }, stage: "ive" },
    { ...RECORD, key: { kind: "sessions", id: "1" } },
    { ...RECORD, stage: "live1", expiresAt: 700_000_600 },
    { ...RECORD, data: { ...RECORD.data, scope: ["read,écrire"] } },
    { ...RECORD, data: { ...RECORD.data, scope: ['read","écrire'] } },
    { ...RECORD, data: { ...RECORD.data, count: "1" } },
  ];
  const macs = [RECORD, ...same].map((record) => recordMac(record, KEY));
  expect(new Set(macs).size).toBe(macs.length);
});

it("is no other text, key or type", () => {
  const mac = recordMac(RECORD, KEY);
  expect(isRecordMac(mac, RECORD, KEY)).toBe(true);
  expect(isRecordMac(mac, RECORD, Buffer.alloc(32, 8))).toBe(false);
  for (const other of ["", mac.slice(1), `${mac}=`, mac.toLowerCase(), undefined, 1, [mac]]) {
    expect(isRecordMac(other, RECORD, KEY)).toBe(false);
  }
});
