/**
 * Sends the same request to all processes of a harness many times at once, round after round: the
 * bodies of the race tests of every store. Each proves that exactly one use of what may be used
 * once succeeds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { SignJWT } from "jose";
import { expect } from "vitest";
import { type Answer, browse, readTokens, send } from "../broker/platform.ts";
import type { RaceHarness } from "./harness.ts";
import { plantSecret } from "../secrets.ts";

/** Concurrent uses, spread over the processes. */
export const TRIES = 50;

/**
 * @param call gets the number of the try
 * @returns how many answers of each kind there were
 */
async function race(call: (index: number) => Promise<Answer>): Promise<Record<string, number>> {
  const answers = await Promise.all(Array.from({ length: TRIES }, (_, index) => answered(() => call(index))));
  const counts: Record<string, number> = {};
  for (const { status, text } of answers) {
    const reason = /<code>(?!invalid_request)([a-z_]+)<\/code>/.exec(text)?.[1] ?? /"error":"(\w+)"/.exec(text)?.[1];
    const kind = [status, reason].filter((part) => part !== undefined).join(" ");
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/**
 * On a busy machine a store may miss its deadline. A 503 spends nothing, and the caller tries
 * again.
 */
async function answered(call: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await call();
    if (answer.status !== 503 || tries === 20) return answer;
    await sleep(300);
  }
}

async function eachRound(rounds: number, run: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await run(round);
}

/** One browser leaves with a request_uri. */
export async function expectOneBrowser({ platform, at }: RaceHarness, rounds: number): Promise<void> {
  await eachRound(rounds, async () => {
    const url = platform.authorizeUrl(await platform.push());
    expect(await race((index) => browse(at(index, url)))).toEqual({ "303": 1, "400 request_uri_used": TRIES - 1 });
  });
}

/** One callback comes back with a code. */
export async function expectOneCallback({ platform, at }: RaceHarness, rounds: number): Promise<void> {
  await eachRound(rounds, async () => {
    const { callback, jar } = await platform.toCallback();
    const counts = await race((index) => browse(at(index, callback), jar.copy()));
    expect(counts).toEqual({ "303": 1, "400 state_replayed": TRIES - 1 });
  });
}

/** One redeemer gets tokens, and the vendor is called once. */
export async function expectOneRedeemer({ platform, stub, url }: RaceHarness, rounds: number): Promise<void> {
  await eachRound(rounds, async () => {
    const flow = await platform.toPlatform();
    const before = stub.requests("/token");
    const form = platform.redeemForm(flow);
    const counts = await race((index) => platform.post("/v1/token", form, url(index)));
    expect(counts).toEqual({ "200": 1, "400 invalid_grant": TRIES - 1 });
    expect(stub.requests("/token")).toBe(before + 1);
  });
}

/** Every fifth try has a wrong verifier: at most one of the right ones gets tokens. */
export async function expectRightVerifierOnly({ platform, url }: RaceHarness, rounds: number): Promise<void> {
  await eachRound(rounds, async () => {
    const flow = await platform.toPlatform();
    const right = platform.redeemForm(flow);
    const wrong = { ...right, code_verifier: "w".repeat(43) };
    const counts = await race((index) => platform.post("/v1/token", index % 5 === 0 ? wrong : right, url(index)));
    expect(counts["400 invalid_grant"]).toBeGreaterThanOrEqual(TRIES - 1);
    expect((counts["200"] ?? 0) + (counts["400 invalid_grant"] ?? 0)).toBe(TRIES);
  });
}

/** One use of a client assertion is accepted. */
export async function expectOneAssertion({ keys, url }: RaceHarness, rounds: number): Promise<void> {
  await eachRound(rounds, async (round) => {
    const assertion = await new SignJWT({ jti: `round-${round}` })
      .setProtectedHeader({ alg: "ES256", kid: keys.kid })
      .setIssuer("keyed")
      .setSubject("keyed")
      .setAudience(url(0))
      .setIssuedAt()
      .setExpirationTime("50s")
      .sign(keys.privateKey);
    plantSecret("assertion", assertion);
    const body = new URLSearchParams({
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: assertion,
      vendor: "stub",
    });
    const counts = await race((index) => send(`${url(index)}/v1/explain`, { method: "POST", body }));
    expect(counts).toEqual({ "200": 1, "401 invalid_client": TRIES - 1 });
  });
}

/**
 * Of 100 equal refreshes one reaches the vendor, and all get its answer; the next round starts from
 * there.
 */
export async function expectOneVendorCall({ atProvider, vendor, url }: RaceHarness, rounds: number): Promise<void> {
  let tokens: { refreshToken: string; connection: string } = await atProvider.connect();
  await eachRound(rounds, async () => {
    const before = vendor.requests().length;
    const form = {
      grant_type: "refresh_token",
      refresh_token: tokens.refreshToken,
      connection: tokens.connection,
    };
    const answers = await Promise.all(
      Array.from({ length: 2 * TRIES }, (_, index) => answered(() => atProvider.post("/v1/token", form, url(index)))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    // `expires_in` is the remaining lifetime, and a second may pass between the first and the last.
    const sets = answers.map(({ body }) => JSON.stringify({ ...body, expires_in: undefined }));
    expect(new Set(sets).size).toBe(1);
    const calls = vendor.requests().slice(before);
    expect(calls.filter(({ path }) => path === "/token")).toHaveLength(1);
    const [first] = answers;
    if (first !== undefined) tokens = readTokens(first);
  });
}
