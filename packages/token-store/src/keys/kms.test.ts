import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Clock, systemTimer } from "@oauth-broker/oauth-core";
import { describeKeyWrapper, fixedClock } from "@oauth-broker/oauth-core/testing";
import type { KmsServer } from "@oauth-broker/simulators/aws";
import { open, seal } from "../crypto/envelope.ts";
import { PATIENT } from "../testing/aws/deadline.ts";
import { kmsOfTests } from "../testing/aws/kms-of-tests.ts";
import { createDataKeys } from "./data-keys.ts";
import { keyOfWrapped } from "./kms-wrapped.ts";
import { kmsKeyWrapper, type KmsKeyWrapper } from "./kms.ts";

const CONTEXT = { purpose: "tokens", environment: "test", table: "t" };
const UNREADABLE = expect.objectContaining({ name: "TokenStoreError", code: "unreadable" });

const [test, foreign] = [kmsOfTests(), kmsOfTests()];
const { wrapperOf } = test;
let kms: KmsServer;
beforeAll(() => {
  ({ kms } = test);
});

const callsSince = (before: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(kms.calls()).flatMap(([name, count]) => {
      const made = count - (before[name] ?? 0);
      return made === 0 ? [] : [[name, made]];
    }),
  );

describeKeyWrapper("KMS", async () => {
  const keyId = kms.createKey();
  return {
    wrapper: wrapperOf(keyId),
    reopen: wrapperOf(keyId),
    stranger: foreign.wrapperOf(foreign.kms.createKey()),
    dispose: async () => {},
  };
});

describe("the KMS key wrapper", () => {
  it("asks for nothing but GenerateDataKey and Decrypt", async () => {
    const before = kms.calls();
    const wrapper = wrapperOf(kms.createKey());
    await wrapper.check(CONTEXT);
    const { wrapped } = await wrapper.newDataKey(CONTEXT);
    await wrapper.unwrap(wrapped, CONTEXT);
    expect(callsSince(before)).toEqual({ GenerateDataKey: 2, Decrypt: 1 });
  });

  it.each([
    ["a key's ARN", (arn: string) => ({ keyId: arn })],
    ["an alias's ARN", (arn: string) => ({ keyId: kms.createAlias("alias/by-arn", arn) })],
    ["a key id and a region", (arn: string) => ({ keyId: arn.split("/")[1]!, region: kms.region })],
    [
      "an alias and a region",
      (arn: string) => {
        kms.createAlias("alias/by-name", arn);
        return { keyId: "alias/by-name", region: kms.region };
      },
    ],
    ["an ARN, whatever the region beside it", (arn: string) => ({ keyId: arn, region: "us-east-1" })],
  ])("takes %s; another process opens what it made, whichever way it names the key", async (_what, optionsFor) => {
    const arn = kms.createKey();
    const { keyId, ...options } = optionsFor(arn) as { keyId: string; region?: string };
    const { dataKey, wrapped } = await wrapperOf(keyId, options).newDataKey(CONTEXT);
    expect(await wrapperOf(arn).unwrap(wrapped, CONTEXT)).toEqual(dataKey);
    expect(await wrapperOf(keyId, options).unwrap(wrapped, CONTEXT)).toEqual(dataKey);
  });

  it("learns the account of the key behind an alias for one data key, shared", async () => {
    const arn = kms.createKey();
    kms.createAlias("alias/learn", arn);
    const made = await Promise.all(Array.from({ length: 10 }, () => wrapperOf(arn).newDataKey(CONTEXT)));
    const before = kms.calls();
    const wrapper = wrapperOf("alias/learn", { region: kms.region });
    await Promise.all(made.map(({ wrapped }) => wrapper.unwrap(wrapped, CONTEXT)));
    expect(callsSince(before)).toEqual({ GenerateDataKey: 1, Decrypt: 10 });
  });

  it.each([
    ["", undefined],
    ["not a key!", "eu-west-1"],
    ["https://kms.eu-west-1.amazonaws.com", "eu-west-1"],
    ["arn:aws:s3:::bucket", "eu-west-1"],
    ["arn:aws:kms:eu-west-1:1234:key/1", "eu-west-1"],
    ["arn:aws:kms:eu-west-1.evil.example:000000000000:key/1", "eu-west-1"],
    ["alias/tokens", undefined],
    ["alias/tokens", ""],
    ["11111111-2222-3333-4444-555555555555", undefined],
  ])("refuses the key id %j with region %j at once, and says what to enter", (keyId, region) => {
    const options = { keyId, ...(region === undefined ? {} : { region }) };
    expect(() => kmsKeyWrapper(options)).toThrow(
      expect.objectContaining({
        name: "TokenStoreError",
        code: "key_id_invalid",
        detail: expect.stringContaining("arn:aws:kms:REGION:ACCOUNT:key/ID"),
      }),
    );
  });
});

describe("bar#TS-4 the encryption context", () => {
  beforeEach(() => kms.ignoreEncryptionContext(false));

  it.each([
    ["missing", {}],
    ["of another table", { ...CONTEXT, table: "u" }],
    ["of another environment", { ...CONTEXT, environment: "production" }],
  ])("bar#TS-4 that is %s is refused by KMS, and by us where KMS does not check", async (_what, context) => {
    const wrapper = wrapperOf(kms.createKey());
    const { dataKey, wrapped } = await wrapper.newDataKey(CONTEXT);
    await expect(wrapper.unwrap(wrapped, context)).rejects.toThrow(UNREADABLE);
    kms.ignoreEncryptionContext(true);
    await expect(wrapper.unwrap(wrapped, context)).rejects.toThrow(UNREADABLE);
    expect(await wrapper.unwrap(wrapped, CONTEXT)).toEqual(dataKey);
  });

  it("bar#TS-4 a ciphertext under another row's binding is refused where KMS does not check", async () => {
    const wrapper = wrapperOf(kms.createKey());
    const one = Buffer.from((await wrapper.newDataKey(CONTEXT)).wrapped, "base64url");
    const other = Buffer.from((await wrapper.newDataKey(CONTEXT)).wrapped, "base64url");
    const blobAt = 2 + one[1]! + 32;
    const mixed = Buffer.concat([one.subarray(0, blobAt), other.subarray(blobAt)]).toString("base64url");
    kms.ignoreEncryptionContext(true);
    await expect(wrapper.unwrap(mixed, CONTEXT)).rejects.toThrow(UNREADABLE);
  });
});

/** Seals rows under data keys and opens them. */
function rowsOf(wrapper: KmsKeyWrapper, now: Clock) {
  const dataKeys = createDataKeys({ keys: wrapper, context: CONTEXT, now, timer: systemTimer });
  return {
    isStale: dataKeys.isStale,
    seal: async (place: string) => {
      const { dataKey, wrapped } = await dataKeys.toSeal(1);
      return { wrapped, sealed: seal(dataKey, `token of ${place}`, [place]), place };
    },
    isReadable: async ({ wrapped, sealed, place }: { wrapped: string; sealed: string; place: string }) =>
      open(await dataKeys.toOpen(wrapped, 1), sealed, [place]).toString() === `token of ${place}`,
  };
}

describe("bar#TS-14 rotation", () => {
  it("bar#TS-14 of the key's material leaves old data keys readable, and is no reason to reseal", async () => {
    const arn = kms.createKey();
    const wrapper = wrapperOf(arn);
    const before = await wrapper.newDataKey(CONTEXT);
    kms.rotateKey(arn);
    const after = await wrapper.newDataKey(CONTEXT);
    for (const { dataKey, wrapped } of [before, after]) {
      expect(await wrapperOf(arn).unwrap(wrapped, CONTEXT)).toEqual(dataKey);
      expect(wrapper.isStale(wrapped)).toBe(false);
    }
  });

  it.each([
    ["by its ARN", (aliasArn: string) => wrapperOf(aliasArn)],
    ["by its name", (aliasArn: string) => wrapperOf(aliasArn.split(":").at(-1)!, { region: kms.region })],
  ])("bar#TS-14 of an alias, named %s: old rows open, new ones are under the new key", async (_what, wrapperFor) => {
    const [old, next] = [kms.createKey(), kms.createKey()];
    const aliasArn = kms.createAlias("alias/moved", old);
    const wrapper = wrapperFor(aliasArn);
    const before = await wrapper.newDataKey(CONTEXT);
    kms.createAlias("alias/moved", next);
    expect(wrapper.isStale(before.wrapped)).toBe(false);
    const after = await wrapper.newDataKey(CONTEXT);
    expect(wrapper.isStale(before.wrapped)).toBe(true);
    expect(wrapper.isStale(after.wrapped)).toBe(false);
    for (const { dataKey, wrapped } of [before, after]) {
      expect(await wrapper.unwrap(wrapped, CONTEXT)).toEqual(dataKey);
    }
    await expect(wrapperOf(next).unwrap(after.wrapped, CONTEXT)).resolves.toEqual(after.dataKey);
  });

  it("bar#TS-14 of an alias under 20 callers: nothing fails, and new rows are under the new key in time", async () => {
    const [old, next] = [kms.createKey(), kms.createKey()];
    const wrapper = wrapperOf(kms.createAlias("alias/tokens", old), PATIENT);
    const clock = fixedClock(1_700_000_000);
    const store = rowsOf(wrapper, clock);
    const rows: Awaited<ReturnType<typeof store.seal>>[] = [];
    let movedAt: number | undefined;
    const rootOf = ({ wrapped }: { wrapped: string }): string | undefined => keyOfWrapped(wrapped)?.arn;
    const work = async (worker: number): Promise<void> => {
      for (let round = 0; round < 40; round += 1) {
        const row = await store.seal(`${worker}/${round}`);
        rows.push(row);
        if (movedAt !== undefined && clock() >= movedAt + 300) expect(rootOf(row)).toBe(next);
        expect(await store.isReadable(rows[(worker * 31 + round * 7) % rows.length]!)).toBe(true);
        if (worker === 0) clock.advance(25);
        if (worker === 0 && round === 15) {
          kms.createAlias("alias/tokens", next);
          movedAt = clock();
        }
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, worker) => work(worker)));
    expect(rows).toHaveLength(800);
    expect(new Set(rows.map(rootOf))).toEqual(new Set([old, next]));
    // A process that starts now opens all of them, and knows which to seal again.
    const fresh = rowsOf(wrapper, clock);
    expect(await Promise.all(rows.map(fresh.isReadable))).not.toContain(false);
    for (const row of rows) expect(fresh.isStale(row.wrapped)).toBe(rootOf(row) === old);
  });

  it("bar#TS-14 to another configured key: old rows open", async () => {
    const [old, next] = [kms.createKey(), kms.createKey()];
    const { dataKey, wrapped } = await wrapperOf(old).newDataKey(CONTEXT);
    const wrapper = wrapperOf(next);
    expect(await wrapper.unwrap(wrapped, CONTEXT)).toEqual(dataKey);
    expect(wrapper.isStale(wrapped)).toBe(false);
    await wrapper.check(CONTEXT);
    expect(wrapper.isStale(wrapped)).toBe(true);
  });

  it("bar#TS-14 of the region: a multi-Region replica opens both ways, nothing is stale", async () => {
    const arn = kms.createKey({ multiRegion: true });
    const replica = arn.replace(":eu-west-1:", ":us-east-1:");
    const [here, there] = [wrapperOf(arn), wrapperOf(replica)];
    const [made, madeThere] = [await here.newDataKey(CONTEXT), await there.newDataKey(CONTEXT)];
    expect(await there.unwrap(made.wrapped, CONTEXT)).toEqual(made.dataKey);
    expect(await here.unwrap(madeThere.wrapped, CONTEXT)).toEqual(madeThere.dataKey);
    expect([here.isStale(madeThere.wrapped), there.isStale(made.wrapped)]).toEqual([false, false]);
  });

  it("bar#TS-14 of the region without one: refused without a call, with a remedy", async () => {
    const { wrapped } = await wrapperOf(kms.createKey()).newDataKey(CONTEXT);
    const multi = kms.createKey({ multiRegion: true }).replace(":eu-west-1:", ":us-east-1:");
    const before = kms.calls();
    await expect(wrapperOf(multi).unwrap(wrapped, CONTEXT)).rejects.toThrow(
      expect.objectContaining({
        extras: expect.objectContaining({ reason: "kms_unavailable" }),
        detail: expect.stringContaining("use a multi-Region key"),
      }),
    );
    expect(callsSince(before)).toEqual({});
  });

  it("does not report a foreign value as stale", async () => {
    const wrapper = wrapperOf(kms.createKey());
    await wrapper.newDataKey(CONTEXT);
    expect(["", "AAAA", "!!", "a".repeat(1000)].map((value) => wrapper.isStale(value))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
