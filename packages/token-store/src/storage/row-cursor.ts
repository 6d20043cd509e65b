/** Where the next page of a scan starts, as text that a command may keep in a file between two runs. */
import type { RowKey } from "./token-rows.ts";

/** @param key of the last row of the page before */
export function toCursor({ pk, sk }: RowKey): string {
  return Buffer.from(JSON.stringify([pk, sk])).toString("base64url");
}

/** @throws TypeError for text that no scan gave out */
export function fromCursor(cursor: string): RowKey {
  const key = parse(Buffer.from(cursor, "base64url").toString());
  if (!Array.isArray(key)) throw new TypeError("not the cursor of a scan");
  const [pk, sk] = key as readonly unknown[];
  if (typeof pk !== "string" || typeof sk !== "string") throw new TypeError("not the cursor of a scan");
  return { pk, sk };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
