/**
 * One of several processes that refresh the same records. Started by children.ts; calls
 * withRefreshLease on request, and can be made to stop at a point: it reports that and waits until
 * it is killed or resumed. The points are wrapped around the records and the refresh here; the code
 * under test does not know about them.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { OAuthError, Secret, systemClock, systemTimer } from "@oauth-broker/oauth-core";
import { createDataKeys } from "../../keys/data-keys.ts";
import type { JournalEvent } from "../../refresh/journal.ts";
import { localKeyWrapper } from "../../keys/local.ts";
import { encrypted } from "../../modes/encrypted.ts";
import type { Refresh, RefreshEvent } from "../../refresh/context.ts";
import { createRefreshLeases } from "../../refresh/refresh.ts";
import type { RefreshTimes } from "../../refresh/times.ts";
import { createTokenRecords } from "../../tokens/row-records.ts";
import { dynamodbTokenRows } from "../../storage/dynamodb/token-rows.ts";
import type { TokenRecords } from "../../tokens/token-records.ts";
import { dataKeyContext } from "../../token-store.ts";
import type { StoredTokens, TokenKey } from "../../tokens/tokens.ts";

export interface RefreshSettings {
  readonly endpoint: string;
  readonly region: string;
  readonly table: string;
  /** The limit for a call to the engine. */
  readonly deadlineMs?: number;
  readonly requestTimeoutMs?: number;
  readonly keyFile: string;
  readonly vendor: { readonly tokenEndpoint: string; readonly clientId: string; readonly clientSecret: string };
  /** Whether the vendor is known to rotate, so that a lost response is a lost refresh token. */
  readonly rotates: boolean;
  readonly times: Partial<RefreshTimes>;
  readonly clockOffset?: number;
  readonly journalFolder?: string;
}

/**
 * After the first read; with the lease; with the vendor's answer; sealed; committed; half of the
 * reply sent.
 */
export type Point = "read" | "leased" | "answered" | "sealed" | "committed" | "replied";

export type ChildOrder =
  | { readonly what: "call"; readonly users: readonly string[]; readonly callers: number; readonly stopAt?: Point }
  | { readonly what: "serve"; readonly stopAt?: Point }
  | { readonly what: "go" };

/** By user: what its callers got, `token …` or `error …`, and how many of them. */
export type Answers = Readonly<Record<string, Readonly<Record<string, number>>>>;

export type ChildMessage =
  | { readonly what: "ready" }
  | { readonly what: "at"; readonly point: Point }
  | { readonly what: "event"; readonly event: RefreshEvent | JournalEvent }
  | { readonly what: "answers"; readonly answers: Answers }
  | { readonly what: "serving"; readonly url: string };

export function keyOf(user: string): TokenKey {
  return { user, vendor: "example", issuer: "https://issuer.example" };
}

/** Records and a refresh as a server has them. Also used by the test's own process. */
export function compose(
  settings: RefreshSettings,
  at: (point: Point) => Promise<void>,
): { readonly records: TokenRecords; readonly refresh: Refresh; readonly now: () => number; close(): Promise<void> } {
  const { endpoint, region, table, deadlineMs = 2500, requestTimeoutMs, keyFile, clockOffset = 0 } = settings;
  const now = (): number => systemClock() + clockOffset;
  const timeouts = requestTimeoutMs === undefined ? { deadlineMs } : { deadlineMs, requestTimeoutMs };
  const rows = dynamodbTokenRows({ endpoint, region, table, ...timeouts });
  const keys = localKeyWrapper({ path: keyFile });
  const dataKeys = createDataKeys({
    keys,
    context: dataKeyContext({ environment: "test", table }),
    now,
    timer: systemTimer,
  });
  const inner = createTokenRecords({ rows, dataKeys, mode: encrypted, environment: "test", now });
  let isLeased = false;
  const after = async <T>(result: Promise<T>, point: Point): Promise<T> => {
    const value = await result;
    await at(point);
    return value;
  };
  const records: TokenRecords = {
    ...inner,
    read: (key) => after(inner.read(key), "read"),
    note: async (over, note) => {
      const result = await inner.note(over, note);
      if (note.lease === undefined || note.lease === null) return result;
      isLeased = true;
      await at("leased");
      return result;
    },
    // Without the lease it is only the trial sealing.
    seal: (...args) => (isLeased ? after(inner.seal(...args), "sealed") : inner.seal(...args)),
    commit: (change) => after(inner.commit(change), "committed"),
  };
  const refresh: Refresh = async ({ refreshToken }, { signal }) => {
    const answer = await ask(refreshToken.reveal(), settings, signal);
    await at("answered");
    return {
      accessToken: new Secret(answer.access_token),
      ...(answer.refresh_token === undefined ? {} : { refreshToken: new Secret(answer.refresh_token) }),
      tokenType: "Bearer",
      expiresAt: now() + answer.expires_in,
    };
  };
  return { records, refresh, now, close: () => rows.close() };
}

interface WireTokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in: number;
}

/** Errors as vendor-client's refreshTokens throws them. */
async function ask(refreshToken: string, settings: RefreshSettings, signal: AbortSignal): Promise<WireTokens> {
  const { tokenEndpoint, clientId, clientSecret } = settings.vendor;
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: clientId,
    client_secret: clientSecret,
  });
  const lost = (): OAuthError =>
    new OAuthError(
      "temporarily_unavailable",
      "The vendor cannot be reached",
      settings.rotates ? { retry: "restart" } : {},
    );
  const response = await fetch(tokenEndpoint, { method: "POST", body, signal }).catch(() => Promise.reject(lost()));
  if (response.status >= 500)
    throw new OAuthError("temporarily_unavailable", "The vendor is unavailable at the moment");
  const answer = (await response.json().catch(() => Promise.reject(lost()))) as WireTokens;
  if (response.status !== 200) throw new OAuthError("invalid_grant", "The vendor refused the grant");
  return answer;
}

/** The result of a caller, as text. */
export function answerOf(got: StoredTokens | undefined | Error): string {
  if (got instanceof OAuthError) return `error ${got.code} ${got.extras.reason ?? ""}`.trim();
  if (got instanceof Error) return `error ${got.message}`;
  return got === undefined ? "none" : `token ${got.tokens.accessToken.reveal()}`;
}

if (import.meta.main) {
  const settings = JSON.parse(process.argv[2] ?? "{}") as RefreshSettings;
  const say = (message: ChildMessage): void => void process.send?.(message);
  let stopAt: Point | undefined;
  let go = Promise.withResolvers<void>();
  const at = async (point: Point): Promise<void> => {
    if (stopAt !== point) return;
    stopAt = undefined;
    go = Promise.withResolvers();
    say({ what: "at", point });
    await go.promise;
  };
  const { records, refresh, now } = compose(settings, at);
  const { times, journalFolder } = settings;
  const onEvent = (event: RefreshEvent | JournalEvent): void => say({ what: "event", event });
  const leases = createRefreshLeases({ times, journalFolder }, { records, now, timer: systemTimer, onEvent });
  const call = (user: string): Promise<StoredTokens | undefined | Error> =>
    leases.withRefreshLease(keyOf(user), refresh).catch((error: Error) => error);

  const callAll = async (users: readonly string[], callers: number): Promise<Answers> => {
    const perUser = users.map(async (user) => {
      const tally: Record<string, number> = {};
      for (const got of await Promise.all(Array.from({ length: callers }, () => call(user)))) {
        const answer = answerOf(got);
        tally[answer] = (tally[answer] ?? 0) + 1;
      }
      return [user, tally] as const;
    });
    return Object.fromEntries(await Promise.all(perUser));
  };
  const serve = (): void => {
    const server = createServer((request, response) => {
      void call(decodeURIComponent(request.url?.slice(1) ?? "")).then(async (got) => {
        const text = answerOf(got);
        response.writeHead(200, { "Content-Length": text.length });
        await new Promise((sent) => response.write(text.slice(0, text.length / 2), sent));
        await at("replied");
        response.end(text.slice(text.length / 2));
      });
    });
    server.listen(0, "127.0.0.1", () => {
      say({ what: "serving", url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    });
  };

  process.on("message", (order: ChildOrder) => {
    if (order.what === "go") {
      go.resolve();
      return;
    }
    ({ stopAt } = order);
    if (order.what === "serve") serve();
    else void callAll(order.users, order.callers).then((answers) => say({ what: "answers", answers }));
  });
  // As a server does: work under way is finished and stored first.
  process.once("SIGTERM", () => {
    void leases.drain(10_000).then((left) => process.exit(left));
  });
  say({ what: "ready" });
}
