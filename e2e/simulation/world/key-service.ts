/**
 * A key service that is far away and sometimes gone: it makes data keys and opens wrapped ones.
 * What it calls a wrapped key is a name, under which it alone keeps the key.
 */
import { randomBytes } from "node:crypto";
import type { KeyContext, KeyWrapper } from "@oauth-broker/oauth-core";
import type { Distance } from "./distance.ts";

export type KeyService = ReturnType<typeof createKeyService>;
/** @param distance to the service */
export function createKeyService(distance: Distance) {
  // By their names and contexts.
  const dataKeys = new Map<string, Buffer>();
  return {
    /** As one process sees it. */
    of: (process: string): KeyWrapper => {
      const call = <T>(to: string, make: () => T): Promise<T> =>
        distance.call(process, { to, place: "key service", isRead: true }, async () => make());
      return {
        newDataKey: (context) =>
          call("make a data key", () => {
            const [dataKey, wrapped] = [randomBytes(32), randomBytes(60).toString("base64url")];
            // Its user overwrites what it was given.
            dataKeys.set(nameOf(wrapped, context), Buffer.from(dataKey));
            return { dataKey, wrapped };
          }),
        unwrap: (wrapped, context) =>
          call("open a data key", () => {
            const dataKey = dataKeys.get(nameOf(wrapped, context));
            if (dataKey === undefined) throw new Error("not wrapped here, or for another context");
            return Buffer.from(dataKey);
          }),
      };
    },
    goAway: distance.goAway,
  };
}

function nameOf(wrapped: string, context: KeyContext): string {
  return `${wrapped} ${JSON.stringify(context, Object.keys(context).toSorted())}`;
}
