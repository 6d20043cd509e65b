/**
 * DynamoDB performs every conditional write of a flow, and its first answer is lost: the retry
 * finds the condition broken by our own write. The store must recognize its own write, or every
 * flow would look replayed.
 */
import { SignJWT } from "jose";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { browse, readTokens, send } from "../../support/broker/platform.ts";
import { type RaceHarness, startRaceHarness } from "../../support/races/harness.ts";
import { plantSecret } from "../../support/secrets.ts";

const FLOWS = 5;

let aws: AwsHarness;
let harness: RaceHarness;
beforeAll(async () => {
  aws = await startAws();
  // From the first write on, which creates the keyset.
  aws.proxy.set({ loseAnswers: "conditional-writes-once" });
  harness = await startRaceHarness({ processes: 2, store: aws.store, keys: aws.keys, env: aws.env });
});
afterAll(async () => {
  await harness.close();
  await aws.close();
});

const lost = (): number => aws.proxy.counts().lost;

it("whole flows succeed, every write of them answered into the void once", async () => {
  const { platform, at, url } = harness;
  const before = lost();
  for (let index = 0; index < FLOWS; index += 1) {
    const { callback, jar, codeVerifier } = await platform.toCallback();
    const returned = await browse(at(index, callback), jar);
    const code = new URL(returned.headers.get("location") ?? "about:blank").searchParams.get("code") ?? "";
    const answer = await platform.post("/v1/token", platform.redeemForm({ code, codeVerifier }), url(index + 1));
    expect(answer.status, answer.text).toBe(200);
    // A second use of each is still detected.
    expect((await browse(at(index, callback), jar)).text).toContain("state_replayed");
    const again = await platform.post("/v1/token", platform.redeemForm({ code, codeVerifier }), url(index));
    expect(again).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  }
  // Pushed, started, parked and spent.
  expect(lost() - before).toBeGreaterThanOrEqual(4 * FLOWS);
});

it("a refresh asks the vendor once, and a client assertion is taken once", async () => {
  const { atProvider, vendor, keys, url } = harness;
  const before = lost();
  const { refreshToken, connection } = await atProvider.connect();
  const asked = vendor.requests().length;
  const form = { grant_type: "refresh_token", refresh_token: refreshToken, connection };
  const answers = await Promise.all([0, 1, 2, 3].map((index) => atProvider.post("/v1/token", form, url(index))));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  for (const answer of answers) readTokens(answer);
  expect(
    vendor
      .requests()
      .slice(asked)
      .filter(({ path }) => path === "/token"),
  ).toHaveLength(1);

  const assertion = await new SignJWT({ jti: "once" })
    .setProtectedHeader({ alg: "ES256", kid: keys.kid })
    .setIssuer("keyed")
    .setSubject("keyed")
    .setAudience(url(0))
    .setIssuedAt()
    .setExpirationTime("50s")
    .sign(keys.privateKey);
  plantSecret("assertion", assertion);
  const explain = async (index: number) =>
    send(`${url(index)}/v1/explain`, {
      method: "POST",
      body: new URLSearchParams({
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: assertion,
        vendor: "stub",
      }),
    });
  expect((await explain(0)).status).toBe(200);
  expect((await explain(1)).status).toBe(401);
  expect(lost() - before).toBeGreaterThanOrEqual(7);
});

it("bar#CB-4 no broker took one of its own writes for another's", async () => {
  const refusals = await Promise.all(
    harness.urls.map(async (url) => {
      const { text } = await send(`${url}/metrics`);
      return text.split("\n").filter((line) => /^broker_refusals_total\{.*(replayed|used|unavailable)/.test(line));
    }),
  );
  // Only those that the tests above caused: one replayed state for each flow.
  const replayed = refusals.flat().map((line) => [/reason="(\w+)"/.exec(line)?.[1], Number(line.split(" ").at(-1))]);
  expect(new Set(replayed.map(([reason]) => reason))).toEqual(new Set(["state_replayed"]));
  expect(replayed.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(FLOWS);
  expect((await aws.scan()).found).toEqual([]);
});
