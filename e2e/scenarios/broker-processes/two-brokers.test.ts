/**
 * The journey of flows over two processes of the built file, the second a copy alone in a folder,
 * on one store: a SQLite file, and a DynamoDB table that loses the first answer of every
 * conditional write, with the keys under KMS. One is killed at the end. Every order of two uses,
 * crashes and outages: the simulator. Each store under faults: its own tests.
 */
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createCookieJar, startFakeVendor } from "@oauth-broker/simulators";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { brokerYaml, createSecrets, vendorEntry } from "../../support/broker/configuration.ts";
import { type Answer, browse, createPlatform, readTokens } from "../../support/broker/platform.ts";
import { runBrokerCommand, startBrokerProcess, temporaryFolder } from "../../support/broker/process.ts";
import { readCoverage } from "../../support/aws/coverage.ts";
import { freePort } from "../../support/free-port.ts";
import { BROKER_BUNDLE } from "../../support/paths.ts";

/**
 * Which functions of the AWS SDK a process ran: the SDK is in the one file, and runs only when a table is chosen.
 *
 * @param bundle the file that ran
 * @throws Error if the bundle has no AWS SDK, or the process ran nothing of the bundle
 */
function sdkFunctionsRun(folder: string, bundle: string): readonly string[] {
  const of = readCoverage(folder).find(({ url }) => url.endsWith("/main.js"));
  const ran = (of?.functions ?? []).flatMap(({ functionName, ranges: [whole] }) =>
    whole !== undefined && whole.count > 0 ? [{ functionName, at: whole.startOffset }] : [],
  );
  const ranges = sdkRanges(readFileSync(bundle, "utf8"));
  if (ranges.length < 100 || ran.length < 500) throw new Error(`${ranges.length} modules, ${ran.length} functions`);
  return ran
    .filter(({ at }) => ranges.some(([from, to]) => at >= from && at < to))
    .map(({ functionName, at }) => `${functionName} at ${at}`);
}

/** Where the AWS SDK's modules are in the bundle: each module begins with a comment of its path. */
function sdkRanges(bundle: string): readonly (readonly [number, number])[] {
  const marks = [...bundle.matchAll(/^\/\/ (\S+\.[cm]?[jt]s|\\0builtin:\S+)$/gm)];
  return marks.flatMap((mark, index) =>
    /node_modules\/@(?:aws-sdk|smithy)\//.test(mark[1] ?? "")
      ? [[mark.index, marks[index + 1]?.index ?? bundle.length] as const]
      : [],
  );
}

type Harness = Awaited<ReturnType<typeof startHarness>>;
/** Both processes start at the same moment, on an empty store. */
async function startHarness(
  store: string,
  { keys = "store", env = {} }: Partial<Pick<AwsHarness, "keys" | "env">> = {},
) {
  const [secrets, folder] = [createSecrets(), temporaryFolder()];
  const file = join(folder, "main.js");
  copyFileSync(BROKER_BUNDLE, file);
  const ports = [String(await freePort()), String(await freePort())] as const;
  const urls: readonly [string, string] = [`http://127.0.0.1:${ports[0]}`, `http://127.0.0.1:${ports[1]}`];
  const [baseUrl] = urls;
  const stub = await startFakeVendor({ codes: "any" });
  const vendors = vendorEntry("stub", stub, secrets);
  const yaml = brokerYaml({ baseUrl, secrets, issuer: "http://127.0.0.1:9", store, keys, vendors });
  const coverage = join(folder, "coverage");
  mkdirSync(coverage);
  const brokers = await Promise.all([
    startBrokerProcess({ yaml, folder, env: { ...env, PORT: ports[0] } }),
    startBrokerProcess({ yaml, folder, file, env: { ...env, PORT: ports[1], NODE_V8_COVERAGE: coverage } }),
  ]);
  return {
    brokers,
    platform: createPlatform({ baseUrl, clientSecret: secrets.platform, vendor: "stub" }),
    stub,
    /** The addresses of the processes; the first is the broker's base_url. */
    urls,
    rotate: async () => runBrokerCommand(["keys", "rotate"], folder, { env }),
    /** @returns the functions of the AWS SDK that the second process ran */
    close: async () => {
      await Promise.all([brokers[1].stop(), stub.close()]);
      return sdkFunctionsRun(coverage, file);
    },
  };
}

function moved(address: URL | string, to: string): URL {
  const url = new URL(address);
  url.host = new URL(to).host;
  return url;
}

const codeIn = ({ headers }: Answer): string =>
  new URL(headers.get("location") ?? "about:blank").searchParams.get("code") ?? "";

describe.each(["SQLite", "DynamoDB"] as const)("two processes on %s", (engine) => {
  let aws: AwsHarness | undefined;
  let harness: Harness;
  beforeAll(async () => {
    aws = engine === "DynamoDB" ? await startAws() : undefined;
    // From the first write on, which creates the keyset.
    aws?.proxy.set({ loseAnswers: "conditional-writes-once" });
    harness = await startHarness(aws?.store ?? "sqlite:./broker.sqlite", aws);
  });
  afterAll(() => aws?.close());

  /** At both at once: one succeeds, and the other is refused as the second. */
  async function race(ask: (at: string) => Promise<Answer>, status: number, refusal: string): Promise<Answer> {
    const answers = await Promise.all(harness.urls.map(ask));
    const won = answers.findIndex((answer) => answer.status === status);
    const [winner, loser] = [answers[won], answers[1 - won]];
    if (winner === undefined || loser === undefined) throw new Error(answers.map(({ text }) => text).join("\n"));
    expect([loser.status, loser.text]).toEqual([400, expect.stringContaining(refusal)]);
    return winner;
  }

  it("bar#CB-3 bar#XA-8 each leg is sent to both at once, and one of them takes it", async () => {
    const { platform, stub, urls } = harness;
    const pushed = await platform.push();
    const jars = new Map(urls.map((at) => [at, createCookieJar()]));
    const leave = async (at: string) => browse(moved(platform.authorizeUrl(pushed), at), jars.get(at));
    const left = await race(leave, 303, "request_uri_used");
    const back = new URL((await browse(left.headers.get("location") ?? "")).headers.get("location") ?? "");
    // Cookies know no ports, so the jar of the winner has the flow's cookie for both.
    const jar = [...jars.values()].find((one) => one.header(back) !== undefined);
    const returned = await race(async (at) => browse(moved(back, at), jar?.copy()), 303, "state_replayed");
    const form = platform.redeemForm({ code: codeIn(returned), codeVerifier: pushed.codeVerifier });
    const before = stub.requests("/token");
    await race(async (at) => platform.post("/v1/token", form, at), 200, "invalid_grant");
    expect(stub.requests("/token")).toBe(before + 1);
  });

  it("bar#RF-1 one refresh at both at once is one vendor call, and both get its answer", async () => {
    const { platform, stub, urls } = harness;
    const { refreshToken, connection } = await platform.connect();
    const before = stub.requests("/token");
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, connection };
    const ask = async (at: string) => readTokens(await platform.post("/v1/token", form, at));
    const [one, two] = await Promise.all(urls.map(ask));
    expect(two?.refreshToken).toBe(one?.refreshToken);
    expect(stub.requests("/token")).toBe(before + 1);
  });

  it("after `keys rotate` and kill -9 of one, the other finishes flows from each leg", async () => {
    const { platform, brokers, rotate, urls } = harness;
    const [, other] = urls;
    const pushed = await platform.push();
    const [first, second] = [await platform.toCallback(), await platform.toPlatform()];
    expect(await rotate()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^New key [\w-]+, used from /) });
    brokers[0].signal("SIGKILL");
    await brokers[0].exited();

    expect((await browse(moved(platform.authorizeUrl(pushed), other))).status).toBe(303);
    const returned = await browse(moved(first.callback, other), first.jar);
    for (const flow of [{ ...first, code: codeIn(returned) }, second]) {
      const answer = await platform.post("/v1/token", platform.redeemForm(flow), other);
      expect(answer.status, answer.text).toBe(200);
    }
  });

  it("stops, has run the AWS SDK only for a table, and left nothing readable there", async () => {
    const ran = await harness.close();
    if (aws === undefined) return expect(ran).toEqual([]);
    expect(ran.length).toBeGreaterThan(100);
    const { found, items, secrets } = await aws.scan();
    expect(found).toEqual([]);
    expect(items).toBeGreaterThan(4);
    expect(secrets).toBeGreaterThan(items);
    expect(aws.proxy.counts().lost).toBeGreaterThan(10);
    const { GenerateDataKey: made = 0, Decrypt: opened = 0, ...others } = aws.kms.calls();
    expect(others).toEqual({});
    // At most 3 created (by each process at the start, and by `keys rotate`) and 5 opened (by each
    // process at the start and after the rotation, and by `keys rotate`); the SDK may retry.
    expect(made + opened).toBeLessThanOrEqual(2 * (3 + 5));
  });
});
