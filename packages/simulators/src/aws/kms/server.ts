/**
 * KMS on loopback, for the SDK's own client. npm has no emulator, and the important cases (a wrong
 * context, a disabled key, a moved alias, no response) must match the service exactly: this
 * implements its protocol and is strict about it. By default it permits what the task role may
 * do, and nothing else.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../../listen.ts";
import { readBody } from "../request-body.ts";
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
  const listening = await listen(0);
  const keys = createKeyRing();
  const faults = createFaultSwitch();
  const calls = new Map<string, number>();
  let permitted: ReadonlySet<string> = new Set(TASK_ROLE);
  let ignoresEncryptionContext = false;

  function perform(operation: string, region: string, body: Buffer): object {
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

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, MAX_BODY_BYTES);
    const operation = operationOf(request.headers);
    if (operation !== undefined) calls.set(operation, (calls.get(operation) ?? 0) + 1);
    try {
      if (body === undefined) throw kmsError("RequestEntityTooLargeException");
      if (operation === undefined) throw kmsError("UnknownOperationException");
      const region = regionOf(request.headers);
      const fault = faults.next();
      if (fault.kind === "hang") return;
      const output = perform(operation, region, body);
      if (fault.kind === "drop") response.socket?.resetAndDestroy();
      if (fault.kind === "delay") await sleep(fault.delayMs, undefined, { ref: false });
      send(response, 200, JSON.stringify(output));
    } catch (error) {
      const { status, body } = errorAnswer(error);
      send(response, status, body);
    }
  }

  listening.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== "POST" || request.url !== "/" || request.headers["content-type"] !== CONTENT_TYPE) {
      response.writeHead(404, { Connection: "close" }).end("<UnknownOperationException/>\n");
      return;
    }
    void answer(request, response);
  });

  return {
    /**
     * `http://127.0.0.1:PORT`. Acts as every Region: the signature's scope says which one a call is
     * for.
     */
    endpoint: listening.url,
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
    close: (): Promise<void> => listening.close(),
  };
}

function send(response: ServerResponse, status: number, body: string): void {
  if (response.destroyed) return;
  response.writeHead(status, { "Content-Type": CONTENT_TYPE, "Content-Length": Buffer.byteLength(body) }).end(body);
}
