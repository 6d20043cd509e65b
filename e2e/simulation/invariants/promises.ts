/**
 * What must hold after every event, with any behaviour of the store, the vendor and the attacker. A
 * promise that breaks is kept as one sentence.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** Who asks, and on behalf of which user: only tokens of both may be in the answer. */
export interface Asker {
  readonly name: string;
  /** Absent: a browser, which gets no tokens. */
  readonly client?: string;
  readonly user?: string;
}

/** One request to a broker, from its first byte to its answer. */
export interface OpenRequest {
  readonly what: string;
  readonly sinceMs: number;
  readonly boundMs: number;
  /** The store let this request down, so that an answer may not have been kept. */
  isLetDown: boolean;
}

/** The request that a call of the store or of the vendor is made for. */
export const currentRequest = new AsyncLocalStorage<OpenRequest>();

export interface Promises {
  /** A value that only this client may get, for this user. */
  belongs(token: string, owner: { readonly client: string; readonly user: string }): void;
  /** What names a user's account: only that user may see it. */
  names(account: string, user: string): void;
  /** A value that must not be in a log, the audit stream or the metrics. */
  hide(secret: string | undefined): void;
  /** @param what such as `code` */
  usedOnce(what: string, value: string): void;
  /** A browser left for the vendor with this state. */
  startedBy(asker: Asker, state: string): void;
  /** A browser was sent on with a code of the flow of this state. */
  continuedBy(asker: Asker, state: string): void;
  answered(asker: Asker, text: string): void;
  wrote(line: string): void;
  opened(request: OpenRequest): void;
  closed(request: OpenRequest): void;
  /** @param nowMs in virtual time */
  checkBounds(nowMs: number): void;
  broke(sentence: string): void;
  broken(): readonly string[];
}

export function createPromises(): Promises {
  const owners = new Map<string, { readonly client: string; readonly user: string }>();
  const accounts = new Map<string, string>();
  const secrets = new Set<string>();
  const used = new Map<string, Set<string>>();
  const browsers = new Map<string, Set<string>>();
  const open = new Set<OpenRequest>();
  const broken: string[] = [];
  const broke = (sentence: string): void => {
    if (!broken.includes(sentence)) broken.push(sentence);
  };
  return {
    belongs: (token, owner) => {
      owners.set(token, owner);
      secrets.add(token);
    },
    names: (account, user) => void accounts.set(account, user),
    hide: (secret) => {
      if (secret !== undefined && secret.length >= 8) secrets.add(secret);
    },
    usedOnce: (what, value) => {
      const before = used.get(what) ?? new Set();
      if (before.has(value)) broke(`a ${what} was used twice`);
      used.set(what, before.add(value));
    },
    startedBy: ({ name }, state) => {
      secrets.add(state);
      browsers.set(state, (browsers.get(state) ?? new Set()).add(name));
    },
    continuedBy: ({ name }, state) => {
      if (browsers.get(state)?.has(name) !== true) broke(`${name} went on with a flow of another browser`);
    },
    answered: (asker, text) => {
      for (const [token, { client, user }] of owners) {
        if (!text.includes(token) || (asker.client === client && asker.user === user)) continue;
        broke(`${asker.name} got a token of ${user} at ${client}`);
      }
      for (const [account, user] of accounts) {
        if (text.includes(account) && asker.user !== user) broke(`${asker.name} saw the account of ${user}`);
      }
    },
    wrote: (line) => {
      for (const secret of secrets) if (line.includes(secret)) broke(`a secret was written: ${line.slice(0, 120)}`);
    },
    opened: (request) => void open.add(request),
    closed: (request) => void open.delete(request),
    checkBounds: (nowMs) => {
      for (const { what, sinceMs, boundMs } of open) {
        if (nowMs - sinceMs > boundMs) broke(`${what} was not answered within ${boundMs / 1000} s`);
      }
    },
    broke,
    broken: () => broken,
  };
}
