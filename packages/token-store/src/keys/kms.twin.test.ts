/** The twins of kms.test.ts and kms-answers.test.ts: with one defence off, the attack succeeds. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type KmsServer, startKms } from "@oauth-broker/simulators/aws";
import { type ScriptedKms, startScriptedKms } from "../testing/aws/scripted-kms.ts";
import { bindingOf, encodeWrapped } from "./kms-wrapped.ts";
import { parseKeyArn } from "./kms-key-id.ts";

const CONTEXT = { purpose: "tokens", table: "t" };
let kms: KmsServer;
let scripted: ScriptedKms;

beforeEach(async () => {
  vi.resetModules();
  kms = await startKms();
});

afterEach(async () => {
  await kms.close();
});

describe("with a defence off", () => {
  it("without the account pin a table writer's data key is opened, and known", async () => {
    vi.doMock("./kms-key-id.ts", async (original) => ({ ...(await original<object>()), requireTrustedKey: () => {} }));
    const { kmsKeyWrapper } = await import("./kms.ts");
    vi.doUnmock("./kms-key-id.ts");
    const [arn, blob, dataKey] = [
      "arn:aws:kms:eu-west-1:999999999999:key/11111111-2222-3333-4444-555555555555",
      Buffer.alloc(100, 7),
      Buffer.alloc(32, 5),
    ];
    const binding = bindingOf(dataKey, { format: 1, arn, blob, context: CONTEXT });
    const wrapped = encodeWrapped({ key: parseKeyArn(arn)!, blob, binding });
    // A role that may decrypt with any key, and a key policy in the other account that lets it.
    scripted = await startScriptedKms(() => ({ body: { KeyId: arn, Plaintext: dataKey.toString("base64") } }));
    const wrapper = kmsKeyWrapper({ keyId: kms.createKey(), endpoint: scripted.endpoint });
    try {
      expect(await wrapper.unwrap(wrapped, CONTEXT)).toEqual(dataKey);
    } finally {
      wrapper.close();
      await scripted.close();
    }
  });

  it("without the binding a lax KMS opens another table's data key (twin of bar#TS-4)", async () => {
    vi.doMock("./kms-wrapped.ts", async (original) => ({ ...(await original<object>()), requireBinding: () => {} }));
    const { kmsKeyWrapper } = await import("./kms.ts");
    vi.doUnmock("./kms-wrapped.ts");
    const wrapper = kmsKeyWrapper({ keyId: kms.createKey(), endpoint: kms.endpoint });
    try {
      const { dataKey, wrapped } = await wrapper.newDataKey(CONTEXT);
      kms.ignoreEncryptionContext(true);
      expect(await wrapper.unwrap(wrapped, { ...CONTEXT, table: "another" })).toEqual(dataKey);
    } finally {
      wrapper.close();
    }
  });
});
