/** DynamoDB items without its SDK, as used by the mapping in this folder. */
import { randomUUID } from "node:crypto";
import type { RowKey } from "../token-rows.ts";

/** The value types of an item that are used here. */
export interface ItemValue {
  readonly S?: string;
  readonly N?: string;
  readonly M?: Item;
}

export type Item = Readonly<Record<string, ItemValue>>;

export function itemKeyOf({ pk, sk }: Item): RowKey {
  return { pk: pk?.S ?? "", sk: sk?.S ?? "" };
}

/** The parts of one conditional write request, as the SDK names them. */
export interface Expressions {
  readonly UpdateExpression?: string;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
}

export type ExpressionBuilder = ReturnType<typeof createExpressionBuilder>;

export function createExpressionBuilder() {
  const names: Record<string, string> = {};
  const values: Record<string, ItemValue> = {};
  const known = new Map<string, string>();
  let count = 0;
  return {
    /**
     * A placeholder for the attribute in an expression: DynamoDB reserves some 570 words, `data` and
     * `ttl` among them.
     */
    name: (attribute: string): string => {
      const placeholder = known.get(attribute) ?? `#n${known.size}`;
      known.set(attribute, placeholder);
      names[placeholder] = attribute;
      return placeholder;
    },
    /** A placeholder for the value. */
    value: (value: ItemValue): string => {
      const placeholder = `:v${count}`;
      count += 1;
      values[placeholder] = value;
      return placeholder;
    },
    build: (parts: {
      readonly set?: readonly string[];
      readonly remove?: readonly string[];
      readonly conditions: readonly string[];
    }): Expressions => {
      const { set = [], remove = [], conditions } = parts;
      const clauses = [];
      if (set.length > 0) clauses.push(`SET ${set.join(", ")}`);
      if (remove.length > 0) clauses.push(`REMOVE ${remove.join(", ")}`);
      return {
        ...(clauses.length === 0 ? {} : { UpdateExpression: clauses.join(" ") }),
        ...(conditions.length === 0 ? {} : { ConditionExpression: conditions.join(" AND ") }),
        // DynamoDB refuses empty lists of placeholders.
        ...(known.size === 0 ? {} : { ExpressionAttributeNames: names }),
        ...(count === 0 ? {} : { ExpressionAttributeValues: values }),
      };
    },
  };
}

/**
 * The attribute by which a write recognises itself. A request whose answer was lost runs twice, and
 * the second time its condition no longer holds: without this, the winner would see a conflict with
 * its own write. Every write leaves a random id in the item; a write that finds its own id has
 * succeeded.
 */
export const ATTEMPT = "attempt";

/** One for each call of a store, the same over all its attempts. */
export function newAttempt(): string {
  return randomUUID();
}

/**
 * @param item as it is now, which is as the write left it unless another write has changed it since
 */
export function isOwnAttempt(item: Item | undefined, attempt: string): boolean {
  //= bar#CB-4
  return item?.[ATTEMPT]?.S === attempt;
}
