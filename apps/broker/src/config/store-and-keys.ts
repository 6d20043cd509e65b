/** Store and keys: one line of text each, with a grammar of its own. */
import type { Parsed } from "@oauth-broker/oauth-core/service";
import { parseKmsKey, parseTable } from "./aws-addresses.ts";
import type { KeysConfig, StoreConfig } from "./types.ts";

/** Paths come back as written; config.ts makes them absolute. */
export function parseStore(text: string): Parsed<StoreConfig> {
  // Without its colon too: in YAML `store: memory:` is no string, and the quotes are easily forgotten.
  if (text === "memory:" || text === "memory") return { value: { kind: "memory" } };
  const [, scheme, rest = ""] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (scheme === "sqlite") {
    const isPath = rest !== "" && !rest.includes("\0") && !rest.startsWith(":");
    return isPath
      ? { value: { kind: "sqlite", path: rest } }
      : { problem: "must name a file after sqlite: (memory: keeps nothing)" };
  }
  if (scheme === "dynamodb") return parseTable(rest);
  return { problem: "must be sqlite:PATH, dynamodb:TABLE?region=REGION or memory" };
}

export function parseKeys(text: string): Parsed<KeysConfig> {
  if (text === "store") return { value: { kind: "store" } };
  if (/^file:[^\0]+$/.test(text)) return { value: { kind: "file", path: text.slice("file:".length) } };
  if (text.startsWith("kms:")) return parseKmsKey(text.slice("kms:".length));
  return { problem: "must be store, file:PATH or kms:ARN" };
}
