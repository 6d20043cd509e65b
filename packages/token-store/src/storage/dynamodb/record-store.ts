/**
 * The RecordStore over a DynamoDB table: what to write when, and what a result means. Each call is
 * one conditional write; only an `advance` that prolongs a record may need a second one, because
 * DynamoDB has no maximum function. The items and expressions are in record-items.ts, the requests
 * in table.ts.
 */
import type { Advanced, Clock, RecordStore } from "@oauth-broker/oauth-core";
import { newAttempt } from "./item.ts";
import { dynamoUnavailable } from "./errors.ts";
import { advanceExpressions, createCondition, recordItem, recordItemKey, toRecord } from "./record-items.ts";
import { type DynamoDbOptions, openDynamoTable } from "./table.ts";
import { isAsExpected, requireAdvance, requireNewRecord } from "../record-rules.ts";

/** @param options.now decides expiry */
export function dynamodbRecordStore({ now, ...options }: DynamoDbOptions & { readonly now: Clock }): RecordStore {
  const table = openDynamoTable(options);
  return {
    get: async (key, asked) => {
      const item = await table.call((items) => items.get(recordItemKey(key)));
      if (item === undefined) return undefined;
      const record = toRecord(key, item);
      return record.expiresAt > now() || asked?.includeExpired === true ? record : undefined;
    },

    create: async (record) => {
      requireNewRecord(record);
      const attempt = newAttempt();
      const item = recordItem(record, attempt);
      const { written } = await table.call((items) => items.put(item, createCondition(now()), attempt));
      return written ? "created" : "exists";
    },

    advance: async (key, from, patch) => {
      requireAdvance(from, patch);
      const attempt = newAttempt();
      return table.call(async (items): Promise<Advanced> => {
        let extend = false; // most records are kept longer than any patch makes them live
        for (let tries = 0; tries < 5; tries += 1) {
          const at = now();
          const expressions = advanceExpressions(from, patch, { now: at, attempt, extend });
          const { written, item } = await items.update(recordItemKey(key), expressions, attempt, "ALL_NEW");
          if (item === undefined) return { outcome: "absent" };
          const record = toRecord(key, item);
          if (written) return { outcome: "moved", record };
          if (record.expiresAt <= at || !isAsExpected(record.data, from)) return { outcome: "absent" };
          //= bar#CB-3
          if (record.stage !== from.stage) return { outcome: "replayed", record };
          // Every expected field matches, so the guess was wrong; or the record has returned to
          // `from` in the meantime.
          extend = patch.expiresAt !== undefined && record.keepUntil < patch.expiresAt;
        }
        throw dynamoUnavailable("the record kept changing");
      });
    },

    delete: async (key) => {
      await table.call((items) => items.delete(recordItemKey(key)));
    },
    ping: table.ping,
    close: table.close,
  };
}
