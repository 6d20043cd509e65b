/**
 * The protocol, by plain fetch. What the SDK's client makes of it: packages/token-store/src/keys.
 */
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { callAwsJson, dummySignedHeaders } from "../aws-json.ts";
import { startKms } from "./server.ts";

let arn: string;
const kms = ofEachTest(startKms);
beforeEach(() => {
  arn = kms.createKey();
});

const call = (operation: string, input: object, region = "eu-west-1") =>
  callAwsJson({ endpoint: kms.endpoint, service: "kms", region, operation, input });
const named = (name: string) => expect.objectContaining({ name });
const generate = (KeyId: string, region?: string) => call("GenerateDataKey", { KeyId, KeySpec: "AES_256" }, region);

/** A well-formed request, but for what is given. @returns status and error */
async function send(headers: Record<string, string>, body = JSON.stringify({ KeyId: arn, KeySpec: "AES_256" })) {
  const operation = { service: "kms", region: "eu-west-1", operation: "GenerateDataKey" } as const;
  const all = { ...dummySignedHeaders(operation), ...headers };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
  const answer = await fetch(kms.endpoint, { method: "POST", headers: kept, body });
  const text = await answer.text();
  return [answer.status, text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>)["__type"] : text.trim()];
}

describe("the protocol", () => {
  const scope = (text: string) =>
    `AWS4-HMAC-SHA256 Credential=${text}, SignedHeaders=host, Signature=${"0".repeat(64)}`;

  it.each([
    [{}, [200, undefined]],
    [{ "content-type": "application/json" }, [404, "<UnknownOperationException/>"]],
    [{ "x-amz-target": "" }, [400, "UnknownOperationException"]],
    [{ "x-amz-target": "DynamoDB_20120810.GenerateDataKey" }, [400, "UnknownOperationException"]],
    [{ "x-amz-target": "TrentService.CreateKey" }, [400, "UnknownOperationException"]],
    [{ "x-amz-target": "TrentService.constructor" }, [400, "UnknownOperationException"]],
    [{ authorization: "" }, [400, "MissingAuthenticationTokenException"]],
    [{ authorization: "Bearer x" }, [400, "IncompleteSignatureException"]],
    [{ "x-amz-date": "" }, [400, "IncompleteSignatureException"]],
    [{ authorization: scope("k/20260101/eu-west-1/dynamodb/aws4_request") }, [400, "InvalidSignatureException"]],
    [{ authorization: scope("k/20260102/eu-west-1/kms/aws4_request") }, [400, "InvalidSignatureException"]],
  ])("answers a request with %j", async (headers, expected) => {
    expect(await send(headers)).toEqual(expected);
  });

  it.each([
    ["", "SerializationException"],
    ["[]", "SerializationException"],
    ['{"KeyId":', "SerializationException"],
    ['{"KeyId":7,"KeySpec":"AES_256"}', "SerializationException"],
    ['{"KeyId":"k","KeySpec":"AES_256","EncryptionContext":{"a":1}}', "SerializationException"],
    ['{"KeyId":"k","KeySpec":"AES_256","EncryptionContext":["a"]}', "SerializationException"],
    ['{"KeySpec":"AES_256"}', "ValidationException"],
    ['{"KeyId":"","KeySpec":"AES_256"}', "ValidationException"],
    ['{"KeyId":"k"}', "ValidationException"],
    ['{"KeyId":"k","KeySpec":"AES_512"}', "ValidationException"],
    ['{"KeyId":"k","KeySpec":"AES_256","DryRun":true}', "ValidationException"],
    [`{"KeyId":"k","KeySpec":"AES_256","EncryptionContext":{"a":"${"x".repeat(8192)}"}}`, "ValidationException"],
  ])("refuses the input %s", async (body, error) => {
    expect(await send({}, body)).toEqual([400, error]);
  });

  it("refuses a body of more than 64 KiB", async () => {
    expect(await send({}, " ".repeat(65 * 1024))).toEqual([413, "RequestEntityTooLargeException"]);
  });

  it.each([
    { CiphertextBlob: "" },
    { CiphertextBlob: "not base64!" },
    { CiphertextBlob: Buffer.alloc(6145).toString("base64") },
    {},
  ])("refuses to decrypt %j", async (input) => {
    await expect(call("Decrypt", input)).rejects.toThrow(
      expect.objectContaining({ name: expect.stringMatching(/^(Serialization|Validation)Exception$/) as string }),
    );
  });
});

describe("what a KeyId names", () => {
  it("is a key by id, ARN, alias name or alias ARN, and the answer has the key's ARN", async () => {
    const aliasArn = kms.createAlias("alias/tokens", arn);
    expect(aliasArn).toBe("arn:aws:kms:eu-west-1:000000000000:alias/tokens");
    for (const keyId of [arn, arn.split("/")[1]!, "alias/tokens", aliasArn]) {
      expect(await generate(keyId)).toMatchObject({ KeyId: arn });
    }
  });

  it("is unknown in another Region or account, or misspelt", async () => {
    const unknown = "00000000-0000-4000-8000-000000000000";
    const names = [
      arn.replace("eu-west-1", "us-east-1"),
      arn.replace("000000000000", "111111111111"),
      arn.replace(/[^/]+$/, unknown),
      unknown,
      "alias/other",
      "arn:aws:kms:eu-west-1:000000000000:tokens",
    ];
    for (const keyId of names) await expect(generate(keyId), keyId).rejects.toThrow(named("NotFoundException"));
    await expect(generate(arn, "us-east-1")).rejects.toThrow(named("NotFoundException"));
    await expect(generate(arn.replace("eu-west-1", "us-east-1"), "us-east-1")).rejects.toThrow(
      named("NotFoundException"),
    );
  });

  it("is a multi-Region key in every Region, with a state of its own in each", async () => {
    const mrk = kms.createKey({ multiRegion: true });
    const replica = mrk.replace("eu-west-1", "us-east-1");
    const { CiphertextBlob, Plaintext } = await generate(mrk);
    expect(await call("Decrypt", { CiphertextBlob, KeyId: replica }, "us-east-1")).toMatchObject({
      KeyId: replica,
      Plaintext,
    });
    kms.setKeyState(mrk, "Disabled");
    await expect(generate(mrk)).rejects.toThrow(named("DisabledException"));
    expect(await generate(replica, "us-east-1")).toMatchObject({ KeyId: replica });
  });

  it("is the new key once the alias is moved, while old blobs open", async () => {
    kms.createAlias("alias/tokens", arn);
    const { CiphertextBlob, Plaintext } = await generate("alias/tokens");
    const other = kms.createKey();
    kms.createAlias("alias/tokens", other);
    expect(await generate("alias/tokens")).toMatchObject({ KeyId: other });
    expect(await call("Decrypt", { CiphertextBlob })).toMatchObject({ KeyId: arn, Plaintext });
    await expect(call("Decrypt", { CiphertextBlob, KeyId: "alias/tokens" })).rejects.toThrow(
      named("IncorrectKeyException"),
    );
  });
});

describe("what a key can do", () => {
  it("opens what older material sealed, under the same ARN", async () => {
    const { CiphertextBlob, Plaintext } = await generate(arn);
    kms.rotateKey(arn);
    expect(await generate(arn)).toMatchObject({ KeyId: arn });
    expect(await call("Decrypt", { CiphertextBlob, KeyId: arn })).toMatchObject({ KeyId: arn, Plaintext });
  });

  it.each([
    ["Disabled", "DisabledException"],
    ["PendingDeletion", "KMSInvalidStateException"],
  ] as const)("is nothing while it is %s", async (state, error) => {
    const { CiphertextBlob } = await generate(arn);
    kms.setKeyState(arn, state);
    await expect(generate(arn)).rejects.toThrow(named(error));
    await expect(call("Decrypt", { CiphertextBlob })).rejects.toThrow(named(error));
    kms.setKeyState(arn, "Enabled");
    expect(await call("Decrypt", { CiphertextBlob })).toMatchObject({ KeyId: arn });
  });

  it("does not reach into a blob of another account's, or of another Region's key", async () => {
    const { CiphertextBlob } = await generate(arn);
    await expect(call("Decrypt", { CiphertextBlob }, "us-east-1")).rejects.toThrow(named("InvalidCiphertextException"));
    const stranger = await startKms();
    try {
      const strange = await callAwsJson({
        endpoint: stranger.endpoint,
        service: "kms",
        region: "eu-west-1",
        operation: "GenerateDataKey",
        input: { KeyId: stranger.createKey(), KeySpec: "AES_256" },
      });
      await expect(call("Decrypt", { CiphertextBlob: strange["CiphertextBlob"] })).rejects.toThrow(
        named("InvalidCiphertextException"),
      );
    } finally {
      await stranger.close();
    }
  });

  it("is what the role may do", async () => {
    kms.permit("Decrypt");
    await expect(generate(arn)).rejects.toThrow(named("AccessDeniedException"));
    kms.permit("GenerateDataKey");
    const { CiphertextBlob } = await generate(arn);
    await expect(call("Decrypt", { CiphertextBlob })).rejects.toThrow(named("AccessDeniedException"));
    expect(kms.calls()).toEqual({ GenerateDataKey: 2, Decrypt: 1 });
  });
});
