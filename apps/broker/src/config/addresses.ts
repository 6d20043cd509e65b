/** base_url, store, keys and networks: one line of text each, with a grammar of its own. */
import { isIP } from "node:net";
import { type Parsed, parseKmsKey, parseTable } from "./aws-addresses.ts";
import { isLoopbackName } from "./source.ts";
import type { KeysConfig, StoreConfig } from "./types.ts";

/** An origin in canonical form: what is written must be what a URL parser gives back. */
//= rfc8414#2
export function parseBaseUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    return { problem: "must be an absolute https URL" };
  if (url.username !== "" || url.password !== "") return { problem: "must not have user information" };
  if (text.includes("?") || text.includes("#")) return { problem: "must not have a query or a fragment" };
  if (url.pathname !== "/") return { problem: "must not have a path: the broker owns the whole host" };
  if (text.endsWith("/")) return { problem: "must not end in a slash: clients compare the issuer byte for byte" };
  if (url.origin !== text) return { problem: "must be in canonical form: lower case, no default port" };
  if (url.protocol === "http:" && !isLoopbackName(url.hostname))
    return { problem: "must be https: http is for loopback only" };
  return { value: text };
}

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

export function checkCidr(value: string): string | undefined {
  const [, network = "", bits = ""] = /^([^/%]+)\/(\d{1,3})$/.exec(value) ?? [];
  const family = isIP(network);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)
    ? undefined
    : "must be a network such as 10.20.0.0/16";
}
