/**
 * The loopback KMS of the simulators, as the SDK's real client sees it. The adapter's own tests
 * rest on this.
 */
import { soonerThan } from "@oauth-broker/oauth-core/testing";
import {
  DecryptCommand,
  DescribeKeyCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  KMSClient,
  type KMSClientConfig,
  KMSServiceException,
  ReEncryptCommand,
} from "@aws-sdk/client-kms";
import { startKms, type KmsServer } from "@oauth-broker/simulators/aws";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const CONTEXT = { purpose: "tokens", table: "one" };

let kms: KmsServer;
let keyArn: string;
const clients: KMSClient[] = [];
beforeEach(async () => {
  kms = await startKms();
  keyArn = kms.createKey();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await kms.close();
});

function client(options: KMSClientConfig = {}): KMSClient {
  const made = new KMSClient({ endpoint: kms.endpoint, region: kms.region, maxAttempts: 1, ...options });
  clients.push(made);
  return made;
}
const dataKey = (KeyId: string = keyArn, from: KMSClient = client()) =>
  from.send(new GenerateDataKeyCommand({ KeyId, KeySpec: "AES_256", EncryptionContext: CONTEXT }));
const decrypt = (CiphertextBlob: Uint8Array | undefined, context?: Record<string, string>, KeyId?: string) =>
  client().send(
    new DecryptCommand({
      CiphertextBlob,
      ...(context === undefined ? {} : { EncryptionContext: context }),
      ...(KeyId === undefined ? {} : { KeyId }),
    }),
  );

/** @returns the name, the status and the message of what the SDK throws */
async function failure(call: Promise<unknown>): Promise<readonly [string, number | undefined, string]> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof KMSServiceException))
    throw new Error("The SDK threw no error of the service", { cause: error });
  return [error.name, error.$metadata.httpStatusCode, error.message];
}

describe("the KMS stand-in under the SDK", () => {
  it("makes a data key that decrypts with its encryption context only", async () => {
    const made = await dataKey();
    expect(made.Plaintext).toHaveLength(32);
    expect(made.KeyId).toBe(keyArn);
    const opened = await decrypt(made.CiphertextBlob, CONTEXT);
    expect(opened.KeyId).toBe(keyArn);
    expect(opened.Plaintext).toEqual(made.Plaintext);
    for (const context of [undefined, {}, { ...CONTEXT, table: "two" }, { purpose: CONTEXT.purpose }]) {
      expect((await failure(decrypt(made.CiphertextBlob, context)))[0]).toBe("InvalidCiphertextException");
    }
  });

  it("decrypts in any context while it ignores it", async () => {
    const made = await dataKey();
    kms.ignoreEncryptionContext(true);
    expect((await decrypt(made.CiphertextBlob, { other: "context" })).Plaintext).toEqual(made.Plaintext);
    kms.ignoreEncryptionContext(false);
    expect((await failure(decrypt(made.CiphertextBlob)))[0]).toBe("InvalidCiphertextException");
  });

  it("names errors as the SDK's classes do", async () => {
    const { CiphertextBlob } = await dataKey();
    const other = kms.createKey();
    expect(await failure(decrypt(CiphertextBlob, CONTEXT, other))).toEqual([
      "IncorrectKeyException",
      400,
      "The key ID in the request does not identify a CMK that can perform this operation.",
    ]);
    expect(await failure(dataKey("alias/none"))).toEqual([
      "NotFoundException",
      400,
      "Alias arn:aws:kms:eu-west-1:000000000000:alias/none is not found.",
    ]);
    expect((await failure(dataKey(keyArn, client({ region: "us-east-1" }))))[0]).toBe("NotFoundException");
    kms.setKeyState(keyArn, "Disabled");
    expect(await failure(dataKey())).toEqual(["DisabledException", 400, `${keyArn} is disabled.`]);
    kms.setKeyState(keyArn, "PendingDeletion");
    expect((await failure(dataKey()))[0]).toBe("KMSInvalidStateException");
    kms.permit("Decrypt");
    expect((await failure(dataKey()))[0]).toBe("AccessDeniedException");
  });

  it("permits the task role to generate and to decrypt, and more where a test says so", async () => {
    const other = kms.createKey();
    const commands = {
      encrypt: () => client().send(new EncryptCommand({ KeyId: keyArn, Plaintext: Buffer.from("x") })),
      describe: () => client().send(new DescribeKeyCommand({ KeyId: keyArn })),
    };
    expect((await failure(commands.encrypt()))[0]).toBe("AccessDeniedException");
    expect((await failure(commands.describe()))[0]).toBe("AccessDeniedException");
    kms.permit("Encrypt", "ReEncrypt", "DescribeKey", "Decrypt");
    const { CiphertextBlob } = await commands.encrypt();
    const moved = await client().send(
      new ReEncryptCommand({ CiphertextBlob, DestinationKeyId: other, DestinationEncryptionContext: CONTEXT }),
    );
    expect([moved.SourceKeyId, moved.KeyId]).toEqual([keyArn, other]);
    expect((await decrypt(moved.CiphertextBlob, CONTEXT)).Plaintext).toEqual(new Uint8Array(Buffer.from("x")));
    expect((await commands.describe()).KeyMetadata).toMatchObject({ Arn: keyArn, KeyState: "Enabled" });
  });

  it("serves a multi-Region key to a client of another Region", async () => {
    const mrk = kms.createKey({ multiRegion: true });
    const made = await dataKey(mrk);
    const far = await client({ region: "ap-southeast-2" }).send(
      new DecryptCommand({ CiphertextBlob: made.CiphertextBlob, EncryptionContext: CONTEXT }),
    );
    expect(far.KeyId).toBe(mrk.replace("eu-west-1", "ap-southeast-2"));
    expect(far.Plaintext).toEqual(made.Plaintext);
  });
});

describe("its faults under the SDK", () => {
  it.each([
    ["throttle", "ThrottlingException", 400],
    ["internal", "KMSInternalException", 500],
    ["unavailable", "DependencyTimeoutException", 503],
  ] as const)("%s is %s, and over when it is switched off", async (kind, name, status) => {
    kms.fault({ kind });
    expect((await failure(dataKey())).slice(0, 2)).toEqual([name, status]);
    expect((await failure(dataKey(keyArn, client({ maxAttempts: 2 })))).slice(0, 2)).toEqual([name, status]);
    expect(kms.calls()).toEqual({ GenerateDataKey: 3 });
    kms.fault(undefined);
    expect((await dataKey()).KeyId).toBe(keyArn);
  });

  it("meets a share of the calls, the same ones in every run", async () => {
    const run = async (server: KmsServer): Promise<boolean[]> => {
      server.fault({ kind: "internal", rate: 0.3 });
      const keyArn = server.createKey();
      const from = client({ endpoint: server.endpoint });
      const met: boolean[] = [];
      for (let i = 0; i < 100; i += 1) {
        met.push(
          await dataKey(keyArn, from).then(
            () => false,
            () => true,
          ),
        );
      }
      return met;
    };
    const first = await run(kms);
    expect(first.filter(Boolean).length).toBeGreaterThan(20);
    expect(first.filter(Boolean).length).toBeLessThan(40);
    const again = await startKms();
    expect(await run(again)).toEqual(first);
    await again.close();
  });

  it("does the work of a dropped call, and the client sees a closed connection", async () => {
    kms.fault({ kind: "drop" });
    await expect(dataKey()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(kms.calls()).toEqual({ GenerateDataKey: 1 });
  });

  it("answers late, or never", async () => {
    kms.fault({ kind: "delay", delayMs: 1_000 });
    const answered = Promise.all(Array.from({ length: 7 }, () => dataKey()));
    await expect(soonerThan(900, answered)).rejects.toThrow("after a timer");
    await answered;
    expect(kms.inFlightPeak()).toBe(7);
    kms.fault({ kind: "hang" });
    const call = client().send(new GenerateDataKeyCommand({ KeyId: keyArn, KeySpec: "AES_256" }), {
      abortSignal: AbortSignal.timeout(100),
    });
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });
});
