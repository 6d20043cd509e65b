/**
 * Loaded before a server (`--import`): counts operations of its code, which are exact while time is
 * not. At SIGUSR2 it prints a line `{"counts": …}` on stdout. Counts of node:crypto are calls,
 * regardless of what they cost inside: an HMAC or an HKDF is one.
 */
import { createHook } from "node:async_hooks";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/** Since the process started. */
export interface Counts {
  /** Digests, HMACs and keys derived, of node:crypto and of WebCrypto, without `recordMacs`. */
  hashes: number;
  /** HMACs over whole records. */
  recordMacs: number;
  /** Texts parsed and written. */
  json: number;
  bufferFrom: number;
  promises: number;
}

/** Of this process. */
export const counts: Counts = { hashes: 0, recordMacs: 0, json: 0, bufferFrom: 0, promises: 0 };

/** Replaces a method by itself and a count. */
function count(owner: object, name: string, what: () => keyof Counts): void {
  const methods = owner as Record<string, (...args: readonly unknown[]) => unknown>;
  const method = methods[name];
  if (method === undefined) throw new Error(`there is no ${name} to count`);
  methods[name] = function counted(this: unknown, ...args) {
    counts[what()] += 1;
    return Reflect.apply(method, this, args);
  };
}

/** By our function that made the call. */
function kindOfHash(): "hashes" | "recordMacs" {
  return /\brecordMac\b/.test(new Error("for its stack").stack ?? "") ? "recordMacs" : "hashes";
}

for (const name of ["hash", "createHash", "createHmac", "hkdf", "hkdfSync"]) count(crypto, name, kindOfHash);
for (const name of ["digest", "sign", "deriveBits"]) count(crypto.webcrypto.subtle, name, () => "hashes");
syncBuiltinESMExports();
for (const name of ["parse", "stringify"]) count(JSON, name, () => "json");
count(Buffer, "from", () => "bufferFrom");

createHook({
  init(_id, type) {
    if (type === "PROMISE") counts.promises += 1;
  },
}).enable();

process.on("SIGUSR2", () => process.stdout.write(`${JSON.stringify({ counts })}\n`));
