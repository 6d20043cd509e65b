/** Reads a member of a vendor's response by its path. */
import type { JsonObject, JsonValue } from "../ports.ts";
import type { MemberPath } from "../registry/dialect.ts";
import { isExactNumber, isJsonList } from "../mechanics/exact-json.ts";
import { isJsonObject } from "../protocol/strict-json.ts";

/**
 * One member of a vendor's response, a number as JSON.parse reads it.
 *
 * @returns undefined when the member is absent or null
 */
export function memberAt(answer: JsonObject | readonly JsonValue[], path: MemberPath): JsonValue | undefined {
  let value: JsonValue | undefined = answer;
  for (const name of path.split(".")) {
    if (isJsonList(value)) value = /^\d{1,3}$/.test(name) ? value[Number(name)] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return isExactNumber(value) ? Number(value.rawJSON) : (value ?? undefined);
}
