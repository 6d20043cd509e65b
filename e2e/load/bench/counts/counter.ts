/**
 * Numbers of operations of our code, which are exact while time is not: of what runs or was started in
 * `countedIn`, and of nothing else in the process. For node:crypto they are calls, regardless of what
 * they cost inside: a short HMAC is two digests (oauth-core/src/protocol/mac.ts).
 */
import { AsyncLocalStorage, createHook } from "node:async_hooks";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/** The operations of one subject so far. */
export interface Counts {
  /** Digests, HMACs and keys derived, of node:crypto and of WebCrypto, without `recordMacs`. */
  hashes: number;
  /** The same for HMACs over whole records. */
  recordMacs: number;
  /** Texts parsed and written. */
  json: number;
  bufferFrom: number;
  promises: number;
  logBytes: number;
}

const scope = new AsyncLocalStorage<Counts>();

/** Runs what is counted there, with all that it starts. */
export function countedIn<T>(counts: Counts, run: () => T): T {
  return scope.run(counts, run);
}

/** Counts while it runs. */
export async function whileCounting<T>(run: () => Promise<T>): Promise<T> {
  const undo = [
    ...["hash", "createHash", "createHmac", "hkdf", "hkdfSync"].map((name) => count(crypto, name, kindOfHash)),
    ...["digest", "sign", "deriveBits"].map((name) => count(crypto.webcrypto.subtle, name, () => "hashes")),
    ...["parse", "stringify"].map((name) => count(JSON, name, () => "json")),
    count(Buffer, "from", () => "bufferFrom"),
  ];
  syncBuiltinESMExports();
  const hook = createHook({
    init(_id, type) {
      const counts = type === "PROMISE" ? scope.getStore() : undefined;
      if (counts !== undefined) counts.promises += 1;
    },
  }).enable();
  try {
    return await run();
  } finally {
    hook.disable();
    for (const restore of undo) restore();
    syncBuiltinESMExports();
  }
}

/** Replaces a method by one whose calls are counted. @returns what puts it back */
function count(owner: object, name: string, what: () => keyof Counts): () => void {
  const methods = owner as Record<string, (...args: readonly unknown[]) => unknown>;
  const own = Object.getOwnPropertyDescriptor(owner, name);
  const method = methods[name];
  if (method === undefined) throw new Error(`there is no ${name} to count`);
  methods[name] = function counted(this: unknown, ...args) {
    const counts = scope.getStore();
    if (counts !== undefined) counts[what()] += 1;
    return Reflect.apply(method, this, args);
  };
  return () => {
    if (own === undefined) delete methods[name];
    else Object.defineProperty(owner, name, own);
  };
}

/** By our function that made the call. */
function kindOfHash(): "hashes" | "recordMacs" {
  return /\brecordMac\b/.test(new Error("for its stack").stack ?? "") ? "recordMacs" : "hashes";
}
