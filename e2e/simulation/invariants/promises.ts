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
  /** The client that asks. Absent: a browser. */
  readonly client?: string | undefined;
  /** The store let this request down, so that an answer may not have been kept. */
  isLetDown: boolean;
}

/** The request that a call of the store or of the vendor is made for. */
export const currentRequest = new AsyncLocalStorage<OpenRequest>();

/** A code of the broker, in a request of a backend. */
interface Presented {
  readonly code: string;
  readonly redirectUri: string;
  /** Where the client that presents it takes codes. */
  readonly ownUri: string;
  readonly nowMs: number;
}
interface Refusable {
  readonly status: number;
  readonly error: string | undefined;
}
/** What is known of a code. */
interface Code {
  readonly sinceMs: number;
  /** Where the broker sent it: to its client. */
  readonly to: string;
  presented: number;
  isRefused: boolean;
}
/** A code lasts a minute; clocks differ. */
const CODE_MS = 65_000;

export type Promises = ReturnType<typeof createPromises>;
export function createPromises() {
  const owners = new Map<string, { readonly client: string; readonly user: string }>();
  const accounts = new Map<string, string>();
  const secrets = new Set<string>();
  const used = new Map<string, Set<string>>();
  const browsers = new Map<string, Set<string>>();
  const codes = new Map<string, Code>();
  const open = new Set<OpenRequest>();
  const written: string[] = [];
  const broken: string[] = [];
  let suspendedUntilMs = 0;
  const broke = (sentence: string): void => {
    if (!broken.includes(sentence)) broken.push(sentence);
  };
  /** Once for all lines of an event: a search costs more than what it reads. */
  const checkWritten = (): void => {
    const lines = written.splice(0);
    const text = lines.join("");
    for (const secret of text === "" ? [] : secrets) {
      if (!text.includes(secret)) continue;
      const line = lines.find((one) => one.includes(secret)) ?? text;
      broke(`a secret was written: ${line.slice(0, 120)}`);
    }
  };
  return {
    /** A value that only this client may get, for this user. */
    belongs: (token: string, owner: { readonly client: string; readonly user: string }) => {
      owners.set(token, owner);
      secrets.add(token);
    },
    /** What names a user's account: only that user may see it. */
    names: (account: string, user: string) => void accounts.set(account, user),
    /** A value that must not be in a log, the audit stream or the metrics. */
    hide: (secret: string | undefined) => {
      if (secret !== undefined && secret.length >= 8) secrets.add(secret);
    },
    /** @param what such as `code` */
    usedOnce: (what: string, value: string) => {
      const before = used.get(what) ?? new Set();
      if (before.has(value)) broke(`a ${what} was used twice`);
      used.set(what, before.add(value));
    },
    /** A browser left for the vendor with this state. */
    startedBy: ({ name }: Asker, state: string) => {
      secrets.add(state);
      if (browsers.get(state)?.has(name) === false) broke(`${name} left with the state of another browser`);
      browsers.set(state, (browsers.get(state) ?? new Set()).add(name));
    },
    /** A browser was sent on with a code of the flow of this state. */
    continuedBy: ({ name }: Asker, state: string) => {
      if (browsers.get(state)?.has(name) !== true) broke(`${name} went on with a flow of another browser`);
    },
    /** The broker has sent a browser to the client with it. */
    issued: (code: string, to: string, sinceMs: number) => {
      secrets.add(code);
      codes.set(code, { sinceMs, to, presented: 0, isRefused: false });
    },
    /** @returns to be called with the answer */
    presented: ({ code, redirectUri, ownUri, nowMs }: Presented): ((answer: Refusable) => void) => {
      const known = codes.get(code);
      if (known === undefined) return () => undefined;
      const { isRefused: wasRefused, sinceMs, to } = known;
      const isOfFlow = to.startsWith(redirectUri);
      known.presented += 1;
      const before = known.presented;
      return ({ status, error }) => {
        if (status === 200 && wasRefused) broke("a code worked that had been refused");
        if (status === 200 && !isOfFlow) broke("a code worked with another redirect URI");
        if (status === 200 && nowMs - sinceMs > CODE_MS) broke("a code worked after its end");
        // With no other request for it, its client presented it, and the verifier was wrong.
        const isAlone = before === 1 && known.presented === 1;
        const isWrong = status === 400 && error === "invalid_grant" && isOfFlow && to.startsWith(ownUri) && isAlone;
        if (isWrong) known.isRefused = true;
      };
    },
    answered: (asker: Asker, text: string) => {
      for (const [token, { client, user }] of owners) {
        const isOwner = asker.client === client && asker.user === user;
        if (!isOwner && text.includes(token)) broke(`${asker.name} got a token of ${user} at ${client}`);
      }
      for (const [account, user] of accounts) {
        if (text.includes(account) && asker.user !== user) broke(`${asker.name} saw the account of ${user}`);
      }
    },
    wrote: (line: string) => void written.push(line),
    /** In a row of the table. */
    kept: (row: string) => {
      for (const secret of secrets) if (row.includes(secret)) broke("the table has a secret in plain text");
    },
    /** A process stands still until then: what is answered later is measured from there. */
    suspended: (untilMs: number) => {
      suspendedUntilMs = Math.max(suspendedUntilMs, untilMs);
      for (const request of open) request.isLetDown = true;
    },
    opened: (request: OpenRequest) => void open.add(request),
    closed: (request: OpenRequest) => void open.delete(request),
    /** @param nowMs in virtual time */
    checkBounds: (nowMs: number) => {
      for (const { what, sinceMs, boundMs } of open) {
        if (nowMs - Math.max(sinceMs, suspendedUntilMs) > boundMs)
          broke(`${what} was not answered within ${boundMs / 1000} s`);
      }
    },
    broke,
    broken: (): readonly string[] => {
      checkWritten();
      return broken;
    },
  };
}
