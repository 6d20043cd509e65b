/**
 * Starting the built broker with and without a table: the AWS SDK is in the one file, and runs only
 * when it is chosen. V8's own count of every function (NODE_V8_COVERAGE) shows what the process
 * really ran.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startFakeVendor } from "@oauth-broker/simulators";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AwsHarness, startAws } from "../../support/aws/aws.ts";
import { runBrokerCommand, startBrokerProcess, temporaryFolder } from "../../support/broker/process.ts";
import { brokerYaml, createSecrets } from "../../support/broker/configuration.ts";
import { freePort } from "../../support/free-port.ts";
import { BROKER_BUNDLE } from "../../support/paths.ts";
import { createPlatform, send } from "../../support/broker/platform.ts";

const secrets = createSecrets();
const folder = temporaryFolder();
let aws: AwsHarness;
beforeAll(async () => {
  aws = await startAws();
});
afterAll(async () => {
  await aws.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

function coverageIn(directory: string): Coverage {
  const [file = ""] = readdirSync(directory);
  return JSON.parse(readFileSync(join(directory, file), "utf8")) as Coverage;
}

/**
 * The positions of the AWS SDK's modules in the bundle: each module begins with a comment of its
 * path.
 */
function sdkRanges(bundle: string): readonly (readonly [number, number])[] {
  const marks = [...bundle.matchAll(/^\/\/ (\S+\.[cm]?[jt]s|\\0builtin:\S+)$/gm)];
  return marks.flatMap((mark, index) =>
    /node_modules\/@(?:aws-sdk|smithy)\//.test(mark[1] ?? "")
      ? [[mark.index, marks[index + 1]?.index ?? bundle.length] as const]
      : [],
  );
}

/**
 * @returns the functions of the AWS SDK that a broker with this configuration ran, from its start
 *   to its end
 */
async function sdkFunctionsRun(name: string, places: { readonly store: string; readonly keys?: string }) {
  const own = join(folder, name);
  const coverage = join(own, "coverage");
  mkdirSync(own);
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const yaml = brokerYaml({ baseUrl, secrets, issuer: "http://127.0.0.1:9", ...places });
  const broker = await startBrokerProcess({
    yaml,
    folder: own,
    env: { ...aws.env, NODE_V8_COVERAGE: coverage },
  });
  expect((await send(`${baseUrl}/readyz`)).status).toBe(200);
  await broker.stop();
  const functions = coverageIn(coverage).result.find(({ url }) => url.endsWith("/dist/main.js"))?.functions ?? [];
  const ranges = sdkRanges(readFileSync(BROKER_BUNDLE, "utf8"));
  const ran = functions.filter(({ ranges: [whole] }) => whole !== undefined && whole.count > 0);
  const isOfSdk = (offset: number): boolean => ranges.some(([from, to]) => offset >= from && offset < to);
  return {
    modules: ranges.length,
    ranAtAll: ran.length,
    ranOfSdk: ran
      .filter(({ ranges: [whole] }) => isOfSdk(whole?.startOffset ?? 0))
      .map(({ functionName, ranges: [whole] }) => `${functionName} at ${whole?.startOffset}`),
  };
}

// At the same time: each broker waits two seconds before it stops.
describe.concurrent("the AWS SDK", () => {
  it.each(["memory:", "sqlite:./broker.sqlite"])("does not run with the store %s", async (store) => {
    const { modules, ranAtAll, ranOfSdk } = await sdkFunctionsRun(store.slice(0, 6), { store });
    expect(modules).toBeGreaterThan(100);
    expect(ranAtAll).toBeGreaterThan(500);
    expect(ranOfSdk).toEqual([]);
  });

  it("is not even loaded by the sandbox, which runs from the sources", async () => {
    const own = join(folder, "sandbox");
    mkdirSync(own);
    const env = { PORT: String(await freePort()), NODE_V8_COVERAGE: join(own, "coverage") };
    const broker = await startBrokerProcess({ entry: "src", folder: own, env });
    await broker.stop();
    const urls = coverageIn(env.NODE_V8_COVERAGE).result.map(({ url }) => url);
    expect(urls.some((url) => url.endsWith("/storage/sqlite/record-store.ts"))).toBe(true);
    expect(urls.filter((url) => /@aws-sdk|@smithy|dynalite|\/storage\/dynamodb\/|\/kms\.ts$/.test(url))).toEqual([]);
  });

  it("runs with a table", async () => {
    const { ranOfSdk } = await sdkFunctionsRun("dynamodb", aws);
    expect(ranOfSdk.length).toBeGreaterThan(100);
  });
});

describe("the built file alone", () => {
  it("runs a whole flow on a table, in an empty folder", async () => {
    const own = join(folder, "alone");
    mkdirSync(own);
    const file = join(own, "main.js");
    copyFileSync(BROKER_BUNDLE, file);
    const stub = await startFakeVendor({ codes: "any" });
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const yaml = brokerYaml({
      baseUrl,
      secrets,
      issuer: stub.url,
      store: await aws.newStore(),
      keys: aws.keys,
      vendors: `
  stub:
    name: Stub
    authorization_endpoint: ${stub.authorizationEndpoint}
    token_endpoint: ${stub.tokenEndpoint}
    credentials: { client_id: broker, client_secret: ${secrets.vendor} }`,
    });
    const broker = await startBrokerProcess({ yaml, folder: own, env: aws.env, file });
    const platform = createPlatform({ baseUrl, clientSecret: secrets.platform, vendor: "stub" });
    expect((await platform.redeem(await platform.toPlatform())).status).toBe(200);
    await broker.stop();
    await stub.close();
  });
});

describe("a configuration with a table", () => {
  const check = async (places: { readonly store: string; readonly keys?: string }) => {
    const yaml = brokerYaml({ baseUrl: "http://127.0.0.1:1", secrets, issuer: "http://127.0.0.1:9", ...places });
    writeFileSync(join(folder, "table.yaml"), yaml);
    return runBrokerCommand(["check"], folder, { env: { ...aws.env, BROKER_CONFIG: "table.yaml" } });
  };

  it("is checked, its table and key included", async () => {
    const { region, endpoint } = aws.engine;
    const table = await aws.engine.createTable();
    const store = `dynamodb:${table}?region=${region}&endpoint=${endpoint}`;
    const { code, stdout, stderr } = await check({ store, keys: aws.keys });
    expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(new RegExp(`^store +dynamodb, table ${table} in eu-west-1 at http://127.0.0.1:\\d+$`, "m"));
    expect(stdout).toMatch(new RegExp(`^keys +in the store, sealed under ${aws.keyArn}$`, "m"));
  });

  it.each([undefined, "file:./keys.json"])("is refused with keys %s, and says both ways out", async (keys) => {
    const { code, stderr } = await check({ store: aws.store, ...(keys === undefined ? {} : { keys }) });
    expect(code).toBe(1);
    expect(stderr).toContain("1 problem");
    expect(stderr).toContain("kms:ARN");
    expect(stderr).toContain("file:PATH");
  });
});
