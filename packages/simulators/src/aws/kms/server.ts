/**
 * KMS on loopback, for the SDK's own client. npm has no emulator, and the important cases (a wrong
 * context, a disabled key, a moved alias, no response) must match the service exactly: this
 * implements its protocol and is strict about it. By default it permits what the task role may
 * do, and nothing else.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Respond, startScriptedVendor } from "../../scripted-vendor.ts";
import { errorAnswer, kmsError } from "./errors.ts";
import { createFaultSwitch, type KmsFault } from "./faults.ts";
import { ACCOUNT, createKeyRing, HOME_REGION, type KeyState } from "./keys.ts";
import { OPERATIONS } from "./operations.ts";
import { CONTENT_TYPE, inputOf, operationOf, regionOf } from "./protocol.ts";

const MAX_BODY_BYTES = 64 * 1024;
const TASK_ROLE = ["GenerateDataKey", "Decrypt"];

export type KmsServer = Awaited<ReturnType<typeof startKms>>;

/** On a free port. */
export async function startKms() {
  const keys = createKeyRing();
  const faults = createFaultSwitch();
  const calls = new Map<string, number>();
  let permitted: ReadonlySet<string> = new Set(TASK_ROLE);
  let ignoresEncryptionContext = false;

  function perform(operation: string, region: string, body: string): object {
    const perform = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
    if (perform === undefined) throw kmsError("UnknownOperationException");
    const input = inputOf(body);
    if (!permitted.has(operation)) {
      throw kmsError(
        "AccessDeniedException",
        `User: arn:aws:sts::${ACCOUNT}:assumed-role/task/test is not authorized to perform: kms:${operation} because no identity-based policy allows the kms:${operation} action`,
      );
    }
    return perform(input, { keys, region, ignoresEncryptionContext });
  }

  const headers = { "Content-Type": CONTENT_TYPE };
  const answer: Respond = async ({ method, headers: sent, body }, response) => {
    if (method !== "POST" || sent["content-type"] !== CONTENT_TYPE) {
      return { status: 404, body: "<UnknownOperationException/>\n" };
    }
    const operation = operationOf(sent);
    if (operation !== undefined) calls.set(operation, (calls.get(operation) ?? 0) + 1);
    try {
      if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw kmsError("RequestEntityTooLargeException");
      if (operation === undefined) throw kmsError("UnknownOperationException");
      const region = regionOf(sent);
      const { kind, delayMs = 1000 } = faults.next() ?? {};
      if (kind === "hang") return undefined;
      const output = perform(operation, region, body);
      if (kind === "delay") await sleep(delayMs, undefined, { ref: false });
      if (kind !== "drop") return { headers, body: output };
      response.socket?.resetAndDestroy();
      return undefined;
    } catch (error) {
      return { headers, ...errorAnswer(error) };
    }
  };
  const { url, close } = await startScriptedVendor({ "/": answer }, { keepsRequests: false });

  return {
    /**
     * `http://127.0.0.1:PORT`. Acts as every Region: the signature's scope says which one a call is
     * for.
     */
    endpoint: url,
    /** Where keys are made. */
    region: HOME_REGION,
    account: ACCOUNT,
    /**
     * @returns the key's ARN. A multi-Region key is served under the same ARN with any other Region
     *   in it as well.
     */
    createKey: ({ multiRegion = false } = {}): string => keys.create(multiRegion),
    /**
     * @param name `alias/…`; again with another key: the alias is moved.
     * @returns its ARN, in the Region of the key's
     */
    createAlias: (name: string, keyArn: string): string => keys.alias(name, keyArn),
    /** New backing material; the ARN stays, and what was sealed before still opens. */
    rotateKey: (keyArn: string): void => keys.rotate(keyArn),
    /** In the Region of this ARN. */
    setKeyState: (keyArn: string, state: KeyState): void => keys.setState(keyArn, state),
    /**
     * From now on permits exactly these operations; any other is AccessDeniedException. At first
     * GenerateDataKey and Decrypt.
     */
    permit(...operations: readonly string[]): void {
      permitted = new Set(operations);
    },
    fault: (fault: KmsFault | undefined): void => faults.set(fault),
    /** A KMS that does not compare the encryption context when it opens. */
    ignoreEncryptionContext(on: boolean): void {
      ignoresEncryptionContext = on;
    },
    /** Calls received so far by operation, including refused and failed ones. */
    calls: (): Readonly<Record<string, number>> => Object.fromEntries(calls),
    close,
  };
}
