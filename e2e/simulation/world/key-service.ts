/**
 * A key service that is far away and sometimes gone: it makes data keys and opens wrapped ones.
 * A reader of a wrapped key cannot open it without the service.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { KeyContext, KeyWrapper } from "@oauth-broker/oauth-core";
import type { Distance } from "./distance.ts";

export interface KeyService {
  /** As one process sees it. */
  of(process: string): KeyWrapper;
  /** Every call fails until then. */
  goAway(untilMs: number): void;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param distance to the service */
export function createKeyService(distance: Distance): KeyService {
  const root = randomBytes(32);
  const contextOf = (context: KeyContext): Buffer =>
    Buffer.from(JSON.stringify(context, Object.keys(context).toSorted()));
  const wrap = (dataKey: Buffer, context: KeyContext): string => {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", root, iv).setAAD(contextOf(context));
    const sealed = Buffer.concat([cipher.update(dataKey), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
  };
  const unwrap = (wrapped: string, context: KeyContext): Buffer => {
    const bytes = Buffer.from(wrapped, "base64url");
    const cipher = createDecipheriv("aes-256-gcm", root, bytes.subarray(0, IV_BYTES)).setAAD(contextOf(context));
    cipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([cipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), cipher.final()]);
  };
  return {
    of: (process) => {
      const call = <T>(what: string, make: () => T): Promise<T> =>
        distance.call(`${process} asks the key service ${what}`, async () => make(), {
          process,
          place: "key service",
          isRead: true,
        });
      return {
        newDataKey: (context) =>
          call("for a data key", () => {
            const dataKey = randomBytes(32);
            return { dataKey, wrapped: wrap(dataKey, context) };
          }),
        unwrap: (wrapped, context) => call("to open a data key", () => unwrap(wrapped, context)),
      };
    },
    goAway: distance.goAway,
  };
}
