/** The twins of kms.test.ts and kms-answers.test.ts: with one defence off, the attack succeeds. */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { kmsOfTests } from "../testing/aws/kms-of-tests.ts";
import { startScriptedKms } from "../testing/aws/scripted-kms.ts";
import * as keyIds from "./kms-key-id.ts";
import * as wrappings from "./kms-wrapped.ts";

const CONTEXT = { purpose: "tokens", table: "t" };
const test = kmsOfTests();

describe("with a defence off", () => {
  it("without the account pin a table writer's data key is opened, and known", async () => {
    weaken(keyIds, () => ({ requireTrustedKey: () => {} }));
    const [arn, blob, dataKey] = [
      "arn:aws:kms:eu-west-1:999999999999:key/11111111-2222-3333-4444-555555555555",
      Buffer.alloc(100, 7),
      Buffer.alloc(32, 5),
    ];
    const made = { key: keyIds.parseKeyArn(arn)!, blob };
    const wrapped = wrappings.encodeWrapped({ ...made, binding: wrappings.bindingOf(dataKey, made, CONTEXT) });
    // A role that may decrypt with any key, and a key policy in the other account that lets it.
    const scripted = await startScriptedKms(() => ({ body: { KeyId: arn, Plaintext: dataKey.toString("base64") } }));
    onTestFinished(scripted.close);
    const wrapper = test.wrapperOf(test.kms.createKey(), { endpoint: scripted.endpoint });
    expect(await wrapper.unwrap(wrapped, CONTEXT)).toEqual(dataKey);
  });

  it("without the binding a lax KMS opens another table's data key (twin of bar#TS-4)", async () => {
    weaken(wrappings, () => ({ requireBinding: () => {} }));
    const wrapper = test.wrapperOf(test.kms.createKey());
    const { dataKey, wrapped } = await wrapper.newDataKey(CONTEXT);
    test.kms.ignoreEncryptionContext(true);
    expect(await wrapper.unwrap(wrapped, { ...CONTEXT, table: "another" })).toEqual(dataKey);
  });
});
