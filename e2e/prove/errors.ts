/**
 * The table of errors: the vendor refuses, is overloaded, or its answer is lost, at each leg; and
 * what the platform has to receive. Planted faults, so none of them is a fault of the broker.
 */
import { type EntryFault, type Facts, type FaultPoint, LIFETIME_SECONDS } from "@oauth-broker/simulators/entry-vendor";
import type { Answer } from "../support/broker/platform.ts";
import { describe, expectSame, type Stage, tokensOf, toToken } from "./stage.ts";

/** What the platform has to receive. */
interface Expected {
  readonly status: number;
  readonly error: string;
  readonly reason?: string | undefined;
  /** Undefined: it must not be there. */
  readonly retry?: "restart" | undefined;
  readonly retryAfter?: string;
}

interface Case {
  readonly what: string;
  readonly fault: EntryFault;
  readonly expected: Expected;
}

const STATUS: Readonly<Record<string, number>> = {
  invalid_grant: 400,
  invalid_scope: 400,
  vendor_credentials_rejected: 400,
  temporarily_unavailable: 503,
  vendor_response_invalid: 502,
};

const STANDARD: readonly Case[] = [
  { what: "invalid_grant", fault: { kind: "error", code: "invalid_grant" }, expected: refused("invalid_grant") },
  {
    what: "invalid_client",
    fault: { kind: "error", code: "invalid_client", status: 401 },
    expected: refused("vendor_credentials_rejected"),
  },
];
const OVERLOAD = { kind: "status", status: 429, headers: { "retry-after": "7" } } as const;
const OUTAGE = { kind: "status", status: 502 } as const;

/** @throws Error naming leg, fault and what came of it */
export async function errorTable(stage: Stage): Promise<void> {
  const { facts } = stage.entry;
  const ofCode: readonly Case[] = [
    ...STANDARD,
    { what: "429", fault: OVERLOAD, expected: unavailable({ retry: "restart", retryAfter: "7" }) },
    { what: "502", fault: OUTAGE, expected: unavailable({ retry: "restart" }) },
  ];
  for (const one of ofCode) expectAnswer("code", one, await redeemWith(stage, one.fault));
  const tokens = tokensOf(await toToken(stage));
  if (tokens.refreshToken === undefined) {
    for (const one of refusals(facts.tokenErrors, "restart")) {
      expectAnswer("code", one, await redeemWith(stage, one.fault));
    }
    return;
  }
  const lost = facts.rotatesRefreshTokens === true ? ({ retry: "restart" } as const) : {};
  const ofRefresh: readonly Case[] = [
    ...STANDARD,
    ...refusals(facts.tokenErrors),
    { what: "429", fault: OVERLOAD, expected: unavailable({ retryAfter: "7" }) },
    { what: "502", fault: OUTAGE, expected: unavailable({}) },
    { what: "a lost answer", fault: { kind: "lose" }, expected: unavailable(lost) },
  ];
  await failedExchange(stage);
  for (const one of ofRefresh) {
    const answer = await withFault(stage, "token", one.fault, () => stage.broker.refresh(tokens));
    expectAnswer("refresh", one, answer);
  }
  await revocationErrors(stage, tokens);
}

/** The first token is passed on, with the reason, and a refresh makes the exchange. */
async function failedExchange(stage: Stage): Promise<void> {
  if (stage.entry.facts.longLivedToken === undefined) return;
  const first = tokensOf(await withFault(stage, "longLived", OUTAGE, () => toToken(stage)));
  const { body } = first;
  const { long_lived_token_error: reason } = body["vendor_data"] as Readonly<Record<string, unknown>>;
  expectSame("the reason of a failed exchange", reason, "temporarily_unavailable");
  expectSame("that the first token lives for long", Number(body["expires_in"]) > LIFETIME_SECONDS, false);
  const later = tokensOf(await stage.broker.refresh(first));
  expectSame("that the later token lives for long", Number(later.body["expires_in"]) > LIFETIME_SECONDS, true);
}

/**
 * The vendor's own errors, each by each of its rules.
 *
 * @param retry what an outage that looks like a refusal has to say if a code is lost with it
 */
function refusals(own: Facts["tokenErrors"], retry?: "restart"): readonly Case[] {
  return Object.entries(own).flatMap(([code, meaning]) => {
    const rules = typeof meaning === "object" && "map" in meaning ? meaning : [{ means: meaning }];
    return rules.map(({ status, member = "error_description", value, prefix, means }): Case => {
      const { code: error, reason } = typeof means === "string" ? { code: means } : means;
      const text = value ?? prefix;
      const beside = text === undefined ? {} : { beside: [member, text] as const };
      const fault = { kind: "error", code, ...(status === undefined ? {} : { status }), ...beside } as const;
      const spent = error === "temporarily_unavailable" ? retry : undefined;
      const what = text === undefined ? code : `${code} with ${member}`;
      return { what, fault, expected: { ...refused(error), reason, retry: spent } };
    });
  });
}

function refused(error: string): Expected {
  return { status: STATUS[error] ?? 400, error };
}

function unavailable(more: Partial<Expected>): Expected {
  return { status: 503, error: "temporarily_unavailable", ...more };
}

async function redeemWith(stage: Stage, fault: EntryFault): Promise<Answer> {
  return withFault(stage, "token", fault, () => toToken(stage));
}

async function withFault(
  { vendor, clock }: Stage,
  at: FaultPoint,
  fault: EntryFault,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  vendor.failNext(at, fault);
  const answer = await ask();
  // Longer than an answer is replayed to an equal request.
  clock.advance(61);
  return answer;
}

async function revocationErrors(stage: Stage, tokens: ReturnType<typeof tokensOf>): Promise<void> {
  const { revocationEndpoint, revokes, revocation, revocationHelp } = stage.entry.facts;
  const { accessToken, refreshToken = "", connection } = tokens;
  if (revocationEndpoint === undefined) return;
  const form = { token: revokes === "refresh_token" ? refreshToken : accessToken, connection, ...stage.client.form };
  const ask = (fault: EntryFault) => withFault(stage, "revocation", fault, () => stage.broker.post("/v1/revoke", form));
  expectAnswer("revocation", { what: "502", fault: OUTAGE, expected: unavailable({}) }, await ask(OUTAGE));
  const noWay = { status: 400, error: "unsupported_token_type" };
  const refusal = { kind: "error", code: "unsupported_token_type" } as const;
  const refused = await ask(refusal);
  expectAnswer("revocation", { what: refusal.code, fault: refusal, expected: noWay }, refused);
  if (revocationHelp !== undefined) expectSame("the help", refused.body["help"], revocationHelp);
  const gone: readonly EntryFault[] = [
    ...(revocation?.goneStatuses ?? []).map((status) => ({ kind: "status", status }) as const),
    ...(revocation?.goneErrors ?? []).map((code) => ({ kind: "error", code, status: 200 }) as const),
  ];
  for (const fault of gone) {
    const { body } = await ask(fault);
    if (body["revoked"] !== "already") throw new Error(`revocation, ${JSON.stringify(fault)}: ${JSON.stringify(body)}`);
  }
}

function expectAnswer(leg: string, { what, expected }: Case, answer: Answer): void {
  const { status, body, headers } = answer;
  const { reason, retry, error } = body;
  const isRight =
    status === expected.status &&
    error === expected.error &&
    (expected.reason === undefined || reason === expected.reason) &&
    retry === expected.retry &&
    (expected.retryAfter === undefined || headers.get("retry-after") === expected.retryAfter);
  if (isRight) return;
  const wanted = [expected.status, expected.error, expected.reason, expected.retry && `retry ${expected.retry}`];
  throw new Error(`${leg}, ${what}: ${describe(answer)}, not ${wanted.filter((part) => part !== undefined).join(" ")}`);
}
