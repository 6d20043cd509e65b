/**
 * Two broker processes on one SQLite file, and the same thing sent to both of them many times at once: exactly one use of
 * everything that may be used once (bar G15), one vendor call for equal refreshes.
 */
import { rmSync } from "node:fs";
import { createCookieJar, type OpenIdProvider, startStubVendor, type StubVendor } from "@oauth-broker/simulators";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type BrokerProcess,
  runBrokerCommand,
  startBrokerProcess,
  temporaryFolder,
} from "../support/broker-process.ts";
import { type ClientKeys, createClientKeys } from "../support/client-keys.ts";
import { brokerYaml, createSecrets, REDIRECT_URI } from "../support/configuration.ts";
import { freePort } from "../support/free-port.ts";
import { type Answer, browse, createPlatform, type Platform, readTokens, send } from "../support/platform.ts";
import { plantSecret } from "../support/secrets.ts";
import { plantVendorSecrets, startVendor } from "../support/vendor.ts";

const ROUNDS = 40;
const TRIES = 50;

const secrets = createSecrets();
const folder = temporaryFolder();
let urls: readonly [string, string];
let vendor: OpenIdProvider;
let stub: StubVendor;
let keys: ClientKeys;
let brokers: readonly BrokerProcess[];
let platform: Platform;

beforeAll(async () => {
  const ports = [await freePort(), await freePort()] as const;
  urls = [`http://127.0.0.1:${ports[0]}`, `http://127.0.0.1:${ports[1]}`];
  const [baseUrl] = urls;
  vendor = await startVendor({ baseUrl, secrets });
  stub = await startStubVendor();
  keys = await createClientKeys("first");
  const yaml = brokerYaml({
    baseUrl,
    secrets,
    issuer: vendor.issuer,
    store: "sqlite:./broker.sqlite",
    clients: `  - { client_id: keyed, jwks: ${keys.jwks}, redirect_uris: [${REDIRECT_URI}] }`,
    vendors: `
  stub:
    name: Stub
    authorization_endpoint: ${stub.authorizationEndpoint}
    token_endpoint: ${stub.tokenEndpoint}
    credentials: { client_id: broker, client_secret: ${secrets.vendor} }`,
    more: "limits: { par_per_minute: 0 }",
  });
  // Both at once, on a database and a key file that neither has made yet. One base_url; each listens on a port of its own.
  brokers = await Promise.all(ports.map((port) => startBrokerProcess({ yaml, folder, env: { PORT: String(port) } })));
  platform = createPlatform({ baseUrl, clientSecret: secrets.platform, vendor: "stub" });
});

afterAll(async () => {
  plantVendorSecrets(vendor);
  await Promise.all(brokers.map((broker) => broker.stop()));
  rmSync(folder, { recursive: true, force: true });
  await vendor.close();
  await stub.close();
});

/** The same address at each process in turn. */
function at(index: number, url: URL | string): URL {
  const moved = new URL(url);
  moved.host = new URL(urls[index % 2] ?? "").host;
  return moved;
}

/** @param call is told which of the tries it is @returns how many answers of each kind there were */
async function race(call: (index: number) => Promise<Answer>): Promise<Record<string, number>> {
  const answers = await Promise.all(Array.from({ length: TRIES }, (_, index) => call(index)));
  const counts: Record<string, number> = {};
  for (const { status, text } of answers) {
    const reason = /<code>(?!invalid_request)([a-z_]+)<\/code>/.exec(text)?.[1] ?? /"error":"(\w+)"/.exec(text)?.[1];
    const kind = [status, reason].filter((part) => part !== undefined).join(" ");
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

describe("of 50 uses at once over two processes", () => {
  it("rfc9126#2.2 exactly one browser leaves with a request_uri", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const url = platform.authorizeUrl(await platform.push());
      expect(await race((index) => browse(at(index, url)))).toEqual({ "303": 1, "400 request_uri_used": TRIES - 1 });
    }
  });

  it("bar#CB-3 exactly one use of a state comes back with a code", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { callback, jar } = await platform.toCallback();
      const counts = await race((index) => browse(at(index, callback), jar.copy()));
      expect(counts).toEqual({ "303": 1, "400 state_replayed": TRIES - 1 });
    }
  });

  it("bar#XA-8 exactly one use of a code gets tokens, and the vendor is asked once", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const flow = await platform.toPlatform();
      const before = stub.counts()["/token"] ?? 0;
      const form = platform.redeemForm(flow);
      const counts = await race((index) => platform.post("/v1/token", form, urls[index % 2]));
      expect(counts).toEqual({ "200": 1, "400 invalid_grant": TRIES - 1 });
      expect(stub.counts()["/token"]).toBe(before + 1);
    }
  });

  it("bar#XA-7 a wrong verifier among right ones lets at most one of them through", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const flow = await platform.toPlatform();
      const right = platform.redeemForm(flow);
      const wrong = { ...right, code_verifier: "w".repeat(43) };
      const counts = await race((index) =>
        platform.post("/v1/token", index % 5 === 0 ? wrong : right, urls[index % 2]),
      );
      expect(counts["400 invalid_grant"]).toBeGreaterThanOrEqual(TRIES - 1);
      expect((counts["200"] ?? 0) + (counts["400 invalid_grant"] ?? 0)).toBe(TRIES);
    }
  });

  it("rfc7523#3 exactly one use of a client assertion is taken", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const assertion = await new SignJWT({ jti: `round-${round}` })
        .setProtectedHeader({ alg: "ES256", kid: keys.kid })
        .setIssuer("keyed")
        .setSubject("keyed")
        .setAudience(urls[0])
        .setIssuedAt()
        .setExpirationTime("50s")
        .sign(keys.privateKey);
      plantSecret("assertion", assertion);
      const body = new URLSearchParams({
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: assertion,
        vendor: "stub",
      });
      const counts = await race((index) => send(`${urls[index % 2]}/v1/explain`, { method: "POST", body }));
      expect(counts).toEqual({ "200": 1, "401 invalid_client": TRIES - 1 });
    }
  });
});

describe("refresh over two processes", () => {
  it("bar#RF-1 makes one vendor call for 100 callers, who all get the same answer", async () => {
    const op = createPlatform({ baseUrl: urls[0], clientSecret: secrets.platform });
    let tokens: { refreshToken: string; connection: string } = await op.connect();
    for (let round = 0; round < 5; round += 1) {
      const before = vendor.requests().length;
      const form = {
        grant_type: "refresh_token",
        refresh_token: tokens.refreshToken,
        connection: tokens.connection,
      };
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => op.post("/v1/token", form, urls[index % 2])),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      // `expires_in` is what is left, and a second may pass between the first and the last.
      const sets = answers.map(({ body }) => JSON.stringify({ ...body, expires_in: undefined }));
      expect(new Set(sets).size).toBe(1);
      expect(
        vendor
          .requests()
          .slice(before)
          .filter(({ path }) => path === "/token"),
      ).toHaveLength(1);
      tokens = readTokens(answers[0]!);
    }
  });
});

describe("a flow over two processes", () => {
  it("may visit another process at each leg", async () => {
    const pushed = await platform.push();
    const jar = createCookieJar();
    const left = await browse(at(1, platform.authorizeUrl(pushed)), jar);
    const sentBack = await browse(left.headers.get("location") ?? "");
    const returned = await browse(at(0, sentBack.headers.get("location") ?? ""), jar);
    const code = new URL(returned.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const form = platform.redeemForm({ code, codeVerifier: pushed.codeVerifier });
    const answer = await platform.post("/v1/token", form, urls[1]);
    expect(answer.status, answer.text).toBe(200);
  });

  it("is finished after `keys rotate`, from whichever leg it was on", async () => {
    const pushed = await platform.push();
    const [first, second] = [await platform.toCallback(), await platform.toPlatform()];
    const rotated = await runBrokerCommand(["keys", "rotate"], folder);
    expect(rotated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^New key [\w-]+, used from /) });
    const listed = await runBrokerCommand(["keys", "list"], folder);
    expect(
      listed.stdout
        .trim()
        .split("\n")
        .map((line) => line.split("  ").at(-1)),
    ).toEqual(["in use", "waiting"]);

    expect((await browse(at(1, platform.authorizeUrl(pushed)))).status).toBe(303);
    const returned = await browse(at(1, first.callback), first.jar);
    const code = new URL(returned.headers.get("location") ?? "").searchParams.get("code") ?? "";
    for (const flow of [{ ...first, code }, second]) {
      const answer = await platform.post("/v1/token", platform.redeemForm(flow), urls[1]);
      expect(answer.status, answer.text).toBe(200);
    }
  });
});
