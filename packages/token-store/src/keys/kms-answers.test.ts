/**
 * Responses KMS itself would never give, and an impostor might: none of them may be used, or shown.
 */
import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { type ScriptedKms, startScriptedKms } from "../testing/aws/scripted-kms.ts";
import { bindingOf, encodeWrapped, parseWrapped } from "./kms-wrapped.ts";
import { kmsKeyWrapper, type KmsKeyWrapper } from "./kms.ts";
import { parseKeyArn } from "./kms-key-id.ts";

const CONTEXT = { purpose: "tokens", table: "t" };
const ARN = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555";
const OTHER_KEY = ARN.replace(/5+$/, "666666666666");
const FOREIGN = ARN.replace("111122223333", "999999999999");
const DATA_KEY = Buffer.from("the data key, 32 bytes, in clear");
const BLOB = Buffer.alloc(184, 9);

/** Made by this release's first commit; every later one must open it. */
const WRAPPED_FORMAT_1 =
  "AUthcm46YXdzOmttczpldS13ZXN0LTE6MTExMTIyMjIzMzMzOmtleS8xMTExMTExMS0yMjIyLTMzMzMtNDQ0NC01NTU1NTU1NTU1NTUi9YZDy4xecuckJzAMc-8HmATkH7LBdLOd93wI4elg2gkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk";

let kms: ScriptedKms | undefined;
let wrapper: KmsKeyWrapper | undefined;

afterEach(async () => {
  wrapper?.close();
  await kms?.close();
});

type Answer = Record<string, unknown> | string;
const ANSWER = { KeyId: ARN, Plaintext: DATA_KEY.toString("base64"), CiphertextBlob: BLOB.toString("base64") };

async function wrapperAnswered(answer: (operation: string) => Answer): Promise<KmsKeyWrapper> {
  kms = await startScriptedKms((operation) => ({ body: answer(operation) }));
  wrapper = kmsKeyWrapper({ keyId: ARN, endpoint: kms.endpoint });
  return wrapper;
}

const UNREADABLE = expect.objectContaining({ name: "TokenStoreError", code: "unreadable" });
const UNAVAILABLE = expect.objectContaining({ extras: { reason: "kms_unavailable" } });

describe("an answer of KMS", () => {
  it.each([
    ["of 16 bytes", 16],
    ["of 31 bytes", 31],
    ["of 33 bytes", 33],
    ["of 64 bytes", 64],
    ["of none", 0],
  ])("with a data key %s is refused, made or opened", async (_what, length) => {
    const Plaintext = Buffer.alloc(length, 1).toString("base64");
    const wrapper = await wrapperAnswered(() => ({ ...ANSWER, Plaintext }));
    await expect(wrapper.newDataKey(CONTEXT)).rejects.toThrow(UNAVAILABLE);
    await expect(wrapper.check(CONTEXT)).rejects.toThrow(UNAVAILABLE);
    await expect(wrapper.unwrap(WRAPPED_FORMAT_1, CONTEXT)).rejects.toThrow(UNREADABLE);
  });

  it.each([
    ["no key", {}],
    ["an alias instead of a key", { KeyId: "arn:aws:kms:eu-west-1:111122223333:alias/a" }],
    ["a key of another account", { KeyId: FOREIGN }],
    ["a key of another partition", { KeyId: ARN.replace(":aws:", ":aws-cn:") }],
    ["no ciphertext", { KeyId: ARN, CiphertextBlob: undefined }],
  ])("with %s makes no data key", async (_what, changed) => {
    const { KeyId: _, ...rest } = ANSWER;
    const wrapper = await wrapperAnswered(() => ({ ...rest, ...changed }));
    await expect(wrapper.newDataKey(CONTEXT)).rejects.toThrow(UNAVAILABLE);
  });

  it("that opened it with another key than the one asked for is refused", async () => {
    const wrapper = await wrapperAnswered(() => ({ ...ANSWER, KeyId: OTHER_KEY }));
    await expect(wrapper.unwrap(WRAPPED_FORMAT_1, CONTEXT)).rejects.toThrow(UNREADABLE);
  });

  it("bar#TS-4 with another data key than the one that was wrapped is refused", async () => {
    const Plaintext = Buffer.alloc(32, 1).toString("base64");
    const wrapper = await wrapperAnswered(() => ({ ...ANSWER, Plaintext }));
    await expect(wrapper.unwrap(WRAPPED_FORMAT_1, CONTEXT)).rejects.toThrow(UNREADABLE);
  });

  it.each([
    ["that is cut", `{"KeyId":"${ARN}","Plaintext":"${DATA_KEY.toString("base64")}","Ciph`],
    ["with text behind it", `{"Plaintext":"${DATA_KEY.toString("base64")}"} and more`],
    ["that begins with the data key", `"${DATA_KEY.toString("base64")}" {`],
  ])("bar#TS-17 %s shows nothing of the data key in the error", async (_what, body) => {
    const wrapper = await wrapperAnswered(() => body);
    const errors = await Promise.all(
      [wrapper.newDataKey(CONTEXT), wrapper.unwrap(WRAPPED_FORMAT_1, CONTEXT), wrapper.check(CONTEXT)].map((call) =>
        call.then(
          () => expect.unreachable(),
          (error: unknown) => error,
        ),
      ),
    );
    for (const error of errors) {
      const shown = inspect(error, { showHidden: true, depth: 10 });
      expect(error).toMatchObject({ extras: { reason: "kms_unavailable" } });
      for (let at = 0; at + 8 < DATA_KEY.length; at += 3) {
        expect(shown).not.toContain(DATA_KEY.subarray(at, at + 6).toString("base64"));
      }
    }
  });
});

describe("a table writer", () => {
  /** An attacker who knows the data key, and so can bind it to any place. */
  const smuggled = (arn: string): string => {
    const made = { key: parseKeyArn(arn)!, blob: BLOB };
    return encodeWrapped({ ...made, binding: bindingOf(DATA_KEY, made, CONTEXT) });
  };

  it("cannot have a data key of the attacker's account opened: KMS is not even asked", async () => {
    const wrapper = await wrapperAnswered(() => ({ ...ANSWER, KeyId: FOREIGN }));
    await expect(wrapper.unwrap(smuggled(FOREIGN), CONTEXT)).rejects.toThrow(UNREADABLE);
    expect(kms?.requests).toEqual([]);
  });

  it("cannot under a key id that names no account either", async () => {
    kms = await startScriptedKms(() => ({ body: ANSWER }));
    wrapper = kmsKeyWrapper({ keyId: "alias/a", region: "eu-west-1", endpoint: kms.endpoint });
    await expect(wrapper.unwrap(smuggled(FOREIGN), CONTEXT)).rejects.toThrow(UNREADABLE);
    expect(kms.requests.map(({ operation }) => operation)).toEqual(["GenerateDataKey"]);
    // The account is remembered: the next call costs nothing.
    await expect(wrapper.unwrap(smuggled(FOREIGN), CONTEXT)).rejects.toThrow(UNREADABLE);
    expect(kms.requests).toHaveLength(1);
  });

  it.each([
    "arn:aws:kms:eu-west-1:111122223333:alias/mine",
    "alias/mine",
    "arn:aws:kms:x.evil.example/:111122223333:key/1",
    "",
  ])("cannot name %j instead of a key", async (arn) => {
    const wrapper = await wrapperAnswered(() => ANSWER);
    const key = { ...parseKeyArn(ARN)!, arn };
    const wrapped = encodeWrapped({ key, blob: BLOB, binding: Buffer.alloc(32) });
    await expect(wrapper.unwrap(wrapped, CONTEXT)).rejects.toThrow(UNREADABLE);
    expect(kms?.requests).toEqual([]);
  });

  it("cannot make KMS read a long value", async () => {
    const wrapper = await wrapperAnswered(() => ANSWER);
    const { key, binding } = parseWrapped(WRAPPED_FORMAT_1);
    const wrapped = encodeWrapped({ key, binding, blob: Buffer.alloc(9000) });
    await expect(wrapper.unwrap(wrapped, CONTEXT)).rejects.toThrow(UNREADABLE);
    expect(kms?.requests).toEqual([]);
  });
});

describe("the wrapped form", () => {
  it("is pinned: KMS is asked for the key it names, with the context and nothing else", async () => {
    const wrapper = await wrapperAnswered(() => ANSWER);
    await wrapper.unwrap(WRAPPED_FORMAT_1, CONTEXT);
    expect(kms?.requests).toEqual([
      {
        operation: "Decrypt",
        input: { KeyId: ARN, CiphertextBlob: BLOB.toString("base64"), EncryptionContext: CONTEXT },
      },
    ]);
  });

  it("bar#TS-20 of format 1 opens for ever, and is still what is written", async () => {
    const wrapper = await wrapperAnswered(() => ANSWER);
    expect(await wrapper.unwrap(WRAPPED_FORMAT_1, CONTEXT)).toEqual(DATA_KEY);
    expect((await wrapper.newDataKey(CONTEXT)).wrapped).toBe(WRAPPED_FORMAT_1);
  });

  it("of a later format is reported as such", async () => {
    const wrapper = await wrapperAnswered(() => ANSWER);
    const bytes = Buffer.from(WRAPPED_FORMAT_1, "base64url");
    bytes[0] = 2;
    await expect(wrapper.unwrap(bytes.toString("base64url"), CONTEXT)).rejects.toThrow(
      expect.objectContaining({ code: "format_unknown" }),
    );
  });
});
