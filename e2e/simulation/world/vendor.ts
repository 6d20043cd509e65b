/**
 * One vendor as its documentation has it: codes work once and only with the verifier of their
 * challenge, refresh tokens rotate, and an old token that comes back ends the grant. Its answers
 * can be late or lost, and it limits rates.
 */
import { createHash } from "node:crypto";
import type { Fetch } from "@oauth-broker/oauth-core";
import type { Egress } from "@oauth-broker/oauth-core/egress";
import { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
import { currentRequest, type OpenRequest, type Promises } from "../invariants/promises.ts";
import type { Random } from "../../support/seeded.ts";
import type { DistanceParts } from "./distance.ts";

export const VENDOR_ORIGIN = "https://acme.example";
export const VENDOR_CLIENT = { id: "ours", secret: "the broker's own secret at acme" };
/** As a registry has it. */
export const vendorAt = (id: string, more: Partial<Vendor> = {}): Vendor =>
  defineVendor({
    id,
    name: id,
    authorizationEndpoint: `https://${id}.example/authorize`,
    tokenEndpoint: `https://${id}.example/token`,
    revocationEndpoint: `https://${id}.example/revoke`,
    defaultScopes: ["read"],
    rotatesRefreshTokens: true,
    ...more,
  });

/** The broker answers an equal refresh again for a minute; less what two clocks may differ. */
const REPLAYED_MS = 50_000;
const LIFETIME_SECONDS = 3_600;
/** A process that crashes so soon after an answer may not have stored it. */
const STORING_MS = 60_000;
/** In tokens and answers: whose account it is. */
export const accountOf = (user: string): string => `account-of-${user}`;

interface Owner {
  readonly client: string;
  readonly user: string;
}
interface Code extends Owner {
  readonly vendorClient: string;
  readonly challenge: string;
  readonly redirectUri: string;
  isUsed: boolean;
  isLost: boolean;
}
interface Grant extends Owner {
  readonly vendorClient: string;
  readonly sinceMs: number;
  isAlive: boolean;
  refreshToken: string;
}
/** A refresh token that was sent, and what became of the call. */
interface Sent {
  underWay: number;
  /** The vendor's tokens reached one of our processes, … */
  answeredAtMs?: number;
  /** … which had asked for this request. */
  by?: OpenRequest | undefined;
  process?: string;
  /** They did not, or not for certain: the new tokens are unknown. */
  isLost?: boolean;
}
type Fate = "answer" | "lost" | "late" | "limited" | "unreached";

/** A client at the vendor; while its secret is being replaced it has two. */
export interface VendorClient {
  readonly id: string;
  readonly secrets: readonly string[];
}

interface VendorParts extends DistanceParts {
  /** Beside the broker's own, or in its place. */
  readonly clients: readonly VendorClient[];
  readonly promises: Promises;
  /** Default: the broker's vendor. */
  readonly name?: string;
  readonly lifetimeSeconds?: number;
  /** How long our side answers an equal refresh again, or does not send it; then the user connects again. */
  readonly replayedMs?: number;
  /** A code may come again after the answer to it was lost: of that no session came. */
  readonly takesLostCodes?: boolean;
}

export type SimulatedVendor = ReturnType<typeof createVendor>;
export function createVendor({
  clients,
  scheduler,
  faults,
  promises,
  tell,
  name = "acme",
  lifetimeSeconds = LIFETIME_SECONDS,
  replayedMs = REPLAYED_MS,
  takesLostCodes = false,
}: VendorParts) {
  const secrets = new Map(
    [{ id: VENDOR_CLIENT.id, secrets: [VENDOR_CLIENT.secret] }, ...clients].map((one) => [one.id, one.secrets]),
  );
  const codes = new Map<string, Code>();
  const grants = new Map<string, Grant>();
  const sent = new Map<string, Sent>();
  const stolen = new Set<string>();
  const opened = new Map<string, Grant>();
  const endedLinks = new Map<string, { readonly beganMs: number; readonly answeredMs: number }>();
  let count = 0;
  const mint = (what: string, { user }: Owner): string => `${what}-${++count}-of-${user}-at-${name}-${"x".repeat(20)}`;

  const grantTo = ({ client, user }: Owner, vendorClient: string): Grant => {
    return { client, user, vendorClient, sinceMs: scheduler.nowMs(), isAlive: true, refreshToken: "" };
  };
  const issueTo = (grant: Grant) => {
    const [accessToken, refreshToken] = [mint("access", grant), mint("refresh", grant)];
    grant.refreshToken = refreshToken;
    grants.set(refreshToken, grant);
    opened.set(accessToken, grant);
    for (const token of [accessToken, refreshToken]) promises.belongs(token, grant);
    return { accessToken, refreshToken };
  };
  const tokensFor = (grant: Grant): Response => {
    const { accessToken, refreshToken } = issueTo(grant);
    return Response.json({
      access_token: accessToken,
      token_type: "bearer",
      refresh_token: refreshToken,
      expires_in: lifetimeSeconds,
      account: accountOf(grant.user),
    });
  };
  const refuse = (status = 400): Response => Response.json({ error: "invalid_grant" }, { status });

  const redeem = (form: URLSearchParams, vendorClient: string): Response => {
    const value = form.get("code") ?? "";
    const code = codes.get(value);
    if (code === undefined) return refuse();
    if (!stolen.has(value) && !(takesLostCodes && code.isLost)) promises.usedOnce("vendor's code", value);
    const verifier = form.get("code_verifier") ?? "";
    const isOfFlow =
      createHash("sha256").update(verifier).digest("base64url") === code.challenge &&
      form.get("redirect_uri") === code.redirectUri;
    if (code.isUsed || !isOfFlow || code.vendorClient !== vendorClient) return refuse();
    code.isUsed = true;
    return tokensFor(grantTo({ client: code.client, user: code.user }, vendorClient));
  };
  const refresh = (token: string, vendorClient: string): Response => {
    const grant = grants.get(token);
    if (token.startsWith("access-")) promises.broke("an access token was sent as a refresh token");
    if (grant === undefined || !grant.isAlive || grant.vendorClient !== vendorClient) return refuse();
    if (grant.refreshToken === token) return tokensFor(grant);
    grant.isAlive = false;
    tell(`${name} ends a grant of ${grant.user}: an old refresh token came back`);
    const { isLost = false, by, answeredAtMs = -Infinity } = sent.get(token) ?? {};
    const isReplayed = scheduler.nowMs() - answeredAtMs < replayedMs;
    if (!isLost && by?.isLetDown !== true && isReplayed) promises.broke(`a grant of ${grant.user} was lost`);
    return refuse();
  };
  const revoke = (token: string): Response => {
    const grant = grants.get(token);
    if (grant !== undefined) grant.isAlive = false;
    return new Response(null, { status: 200 });
  };
  const answer = (url: URL, form: URLSearchParams, headers: Headers): Response => {
    if (url.pathname === "/me") {
      const grant = opened.get(headers.get("authorization")?.slice("Bearer ".length) ?? "");
      if (grant === undefined) return refuse(401);
      const { user, sinceMs } = grant;
      const { beganMs = -1, answeredMs = 0 } = endedLinks.get(user) ?? {};
      const isLater = (currentRequest.getStore()?.sinceMs ?? 0) > answeredMs;
      if (sinceMs < beganMs && isLater) promises.broke(`a tool got a token of ${user} after the link was ended`);
      return Response.json({ account: accountOf(user) });
    }
    const { id, secret } = credentialsIn(form, headers);
    if (secrets.get(id)?.includes(secret) !== true) return Response.json({ error: "invalid_client" }, { status: 401 });
    if (url.pathname === "/revoke") return revoke(form.get("token") ?? "");
    return form.get("grant_type") === "refresh_token" ? refresh(form.get("refresh_token") ?? "", id) : redeem(form, id);
  };

  const fateOf = (random: Random | undefined): Fate => {
    if (random === undefined || !random.happens(20)) return "answer";
    return random.pick<Fate>(["lost", "late", "limited", "unreached"]);
  };

  const ask = (
    process: string,
    life: { readonly isOver: boolean },
    input: string | URL,
    init: RequestInit = {},
  ): Promise<Response> =>
    new Promise((resolve, reject) => {
      const url = new URL(input);
      const form = formOf(init.body);
      const what = url.pathname === "/token" ? (form.get("grant_type") ?? "") : url.pathname.slice(1);
      const random = faults?.();
      const fate = fateOf(random);
      const token = form.get("refresh_token") ?? undefined;
      const asking = currentRequest.getStore();
      const record: Sent = sent.get(token ?? "") ?? { underWay: 0 };
      if (token !== undefined) {
        sent.set(token, record);
        record.underWay += 1;
        if (record.underWay > 1) promises.broke("one refresh token was sent twice at a time");
      }
      let isOver = false;
      const end = (finish: () => void): void => {
        if (isOver) return;
        isOver = true;
        // Otherwise Node.js keeps a signal of several, and this world with it.
        init.signal?.removeEventListener("abort", timeOut);
        record.underWay -= 1;
        finish();
      };
      const fail = (kind: "timeout" | "broken" | "connect", isSent: boolean): void =>
        end(() => {
          tell(`${process} gets no answer from ${name} to ${what}: ${kind}`);
          record.isLost = true;
          const code = codes.get(form.get("code") ?? "");
          if (code !== undefined) code.isLost = true;
          reject(lost(kind, isSent));
        });
      const timeOut = (): void => fail("timeout", true);
      init.signal?.addEventListener("abort", timeOut, { once: true });
      const arrive = (): void => {
        if (isOver) return;
        if (fate === "unreached") return fail("connect", false);
        if (fate === "limited") {
          tell(`${name} limits ${what}`);
          return end(() => resolve(new Response("{}", { status: 429, headers: { "retry-after": "2" } })));
        }
        const response = answer(url, form, new Headers(init.headers));
        tell(
          `${name} answers ${what} of ${process} with ${response.status}${fate === "answer" ? "" : `, and it is ${fate}`}`,
        );
        if (fate === "lost") return fail("broken", true);
        const backMs = fate === "late" ? 5_000 + (random?.below(30_000) ?? 0) : 1 + (random?.below(300) ?? 0);
        if (random === undefined) return deliver(response);
        scheduler.later(backMs, () => deliver(response));
      };
      const deliver = (response: Response): void =>
        end(() => {
          if (response.ok) {
            record.answeredAtMs = scheduler.nowMs();
            record.by = asking;
            record.process = process;
            if (life.isOver) record.isLost = true;
          }
          resolve(response);
        });
      // With nothing left to chance it is asked and answers in one step: a second use ends the grant then.
      if (random === undefined) scheduler.later(0, arrive, { process, place: name, isRead: false });
      else scheduler.later(1 + random.below(300), arrive);
      // As the egress of production: ten seconds for the whole exchange.
      if (random !== undefined) scheduler.later(10_000, timeOut);
    });

  return {
    /**
     * The user signs in and consents.
     *
     * @param owner whose client's these tokens will be
     * @returns the URL to which the vendor sends the browser
     */
    authorize: ({ searchParams }: URL, owner: Owner) => {
      const code = mint("code", owner);
      promises.hide(code);
      const redirectUri = searchParams.get("redirect_uri") ?? "";
      const challenge = searchParams.get("code_challenge") ?? "";
      const vendorClient = searchParams.get("client_id") ?? "";
      codes.set(code, { ...owner, vendorClient, challenge, redirectUri, isUsed: false, isLost: false });
      const back = new URL(redirectUri);
      back.searchParams.set("code", code);
      back.searchParams.set("state", searchParams.get("state") ?? "");
      return back.href;
    },
    /**
     * All outbound calls of one process.
     *
     * @param life over: it crashed, and what it is answered is lost
     */
    egressOf: (process: string, life: { readonly isOver: boolean } = { isOver: false }): Egress => {
      const fetch: Fetch = (input, init) => ask(process, life, input, init);
      return { fetch, fetchUntrusted: fetch, close: async () => {} };
    },
    /** What this process was answered a moment ago may be lost. */
    crashed: (process: string) => {
      for (const record of sent.values()) {
        const isRecent = scheduler.nowMs() - (record.answeredAtMs ?? -Infinity) < STORING_MS;
        if (record.process === process && isRecent) record.isLost = true;
      }
    },
    /** The user was answered that the link is ended: no tool gets what was granted before it began. */
    disconnected: (user: string, beganMs: number) =>
      void endedLinks.set(user, { beganMs, answeredMs: scheduler.nowMs() }),
    /** As after an authorization. @returns the tokens of a new grant */
    issue: (owner: Owner) => issueTo(grantTo(owner, clients[0]?.id ?? "")),
    /** Whether a grant of the user is alive. */
    holds: (user: string) => [...grants.values()].some((grant) => grant.user === user && grant.isAlive),
    /** The attacker has put this code into the attacker's own flow. */
    expectStolen: (code: string) => void stolen.add(code),
  };
}

function formOf(body: unknown): URLSearchParams {
  return new URLSearchParams(typeof body === "string" || body instanceof URLSearchParams ? body : "");
}

/** In the header or in the body. */
function credentialsIn(form: URLSearchParams, headers: Headers) {
  const basic = /^Basic (.+)$/.exec(headers.get("authorization") ?? "")?.[1];
  if (basic === undefined) return { id: form.get("client_id") ?? "", secret: form.get("client_secret") ?? "" };
  const [id = "", secret = ""] = Buffer.from(basic, "base64").toString().split(":");
  const decode = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));
  return { id: decode(id), secret: decode(secret) };
}

/** As the egress reports it. */
function lost(kind: string, sent: boolean): Error {
  return Object.assign(new Error("no answer"), { name: "EgressError", kind, sent, detail: VENDOR_ORIGIN });
}
