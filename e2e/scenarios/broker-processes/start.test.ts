/**
 * Starting a broker: its messages when it cannot start, its behaviour when only the store is down,
 * and the sandbox's files. What is about the process runs the built file or the sources; the rest
 * starts in this process as main.ts does.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { start } from "@oauth-broker/broker/src/start.ts";
import { createLog } from "@oauth-broker/service";
import { describe, expect, it } from "vitest";
import { brokerYaml, createSecrets } from "../../support/broker/configuration.ts";
import { createPlatform, send } from "../../support/broker/platform.ts";
import { runBrokerCommand, startBrokerProcess, temporaryFolder } from "../../support/broker/process.ts";
import { readCoverage } from "../../support/aws/coverage.ts";
import { freePort } from "../../support/free-port.ts";
import { BROKER_BUNDLE } from "../../support/paths.ts";
import { findSecrets, plantSecret } from "../../support/secrets.ts";
import { textMember } from "../../support/text-member.ts";

const secrets = createSecrets();

const yamlAt = (port: number, parts: { readonly store?: string; readonly keys?: string } = {}) =>
  brokerYaml({ baseUrl: `http://127.0.0.1:${port}`, secrets, issuer: "http://127.0.0.1:9", ...parts });

/** As main.ts starts it in this folder: with a broker.yaml, or as the sandbox. */
async function startIn(
  folder: string,
  { yaml, env = {} }: { readonly yaml?: string; readonly env?: Record<string, string> },
) {
  if (yaml !== undefined) writeFileSync(join(folder, "broker.yaml"), yaml);
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const config = loadConfig(env, folder);
  const running = await start(config, log, { clientFile: join(folder, "data", "sandbox-client.json"), graceMs: 0 });
  return {
    url: config.baseUrl,
    said: () => lines.join("") + running.greeting,
    stop: async () => {
      await running.stop();
      expect(findSecrets(lines.join("") + running.greeting)).toEqual([]);
    },
  };
}

const clientIn = (folder: string): Record<string, unknown> => {
  const file = join(folder, "data", "sandbox-client.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const client = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  plantSecret("the sandbox client's secret", textMember(client, "client_secret"));
  return client;
};

it("a configuration with mistakes is refused with all problems, without a secret", async () => {
  const folder = temporaryFolder();
  const wrong = brokerYaml({ baseUrl: "http://broker.example.com/", secrets, issuer: "http://127.0.0.1:9" });
  writeFileSync(join(folder, "wrong.yaml"), `${wrong}stroe: "memory:"\n`);
  const { code, stdout, stderr } = await runBrokerCommand([], folder, { env: { BROKER_CONFIG: "wrong.yaml" } });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  for (const said of ["base_url", "stroe is not a known field"]) expect(stderr).toContain(said);
  expect(stderr).not.toMatch(/\n {4}at /);
  expect(findSecrets(stderr)).toEqual([]);
});

it("a store that is down at start does not stop the broker, which works once it is there", async () => {
  const [port, folder] = [await freePort(), temporaryFolder()];
  const baseUrl = `http://127.0.0.1:${port}`;
  // A file instead of the database's folder.
  writeFileSync(join(folder, "data"), "");
  const broker = await startIn(folder, { yaml: yamlAt(port, { store: "sqlite:./data/broker.sqlite" }) });
  const platform = createPlatform({ baseUrl, clientSecret: secrets.platform });
  expect((await send(`${baseUrl}/healthz`)).status).toBe(200);
  expect((await send(`${baseUrl}/readyz`)).status).toBe(503);
  expect(await platform.par()).toMatchObject({ status: 503, body: { error: "temporarily_unavailable" } });
  rmSync(join(folder, "data"));
  await expect.poll(async () => (await send(`${baseUrl}/readyz`)).status, { interval: 100 }).toBe(200);
  await broker.stop();
});

describe.runIf(process.platform === "linux")("a folder in which nothing can be made", () => {
  it.each([
    ["store", { store: "sqlite:/proc/nope/broker.sqlite" }],
    ["keys", { store: "sqlite:./keys-elsewhere.sqlite", keys: "file:/proc/nope/keys.json" }],
  ])("%s: the broker runs, is not ready, and ends when it is asked to", async (_, places) => {
    const broker = await startIn(temporaryFolder(), { yaml: yamlAt(await freePort(), places) });
    expect((await send(`${broker.url}/healthz`)).status).toBe(200);
    expect((await send(`${broker.url}/readyz`)).status).toBe(503);
    await broker.stop();
  });
});

it("the built file alone has no sandbox, says so, and leaves nothing in its folder", () => {
  const alone = temporaryFolder();
  const file = join(alone, "main.js");
  copyFileSync(BROKER_BUNDLE, file);
  for (const args of [[], ["--sandbox"]]) {
    const sandbox = spawnSync(process.execPath, [file, ...args], { cwd: alone, env: {}, encoding: "utf8" });
    expect(sandbox).toMatchObject({ status: 1, stdout: "" });
    expect(sandbox.stderr).toContain("has no sandbox");
    expect(sandbox.stderr).toContain("npm start");
    expect(sandbox.stderr).not.toMatch(/\n {4}at /);
  }
  expect(readdirSync(alone)).toEqual(["main.js"]);
});

describe("the sandbox", () => {
  it("is what npm start runs beside a broker's data, and loads no SDK it does not need (#29)", async () => {
    const [folder, coverage] = [temporaryFolder(), temporaryFolder()];
    const yaml = yamlAt(await freePort(), { store: "sqlite:./data/broker.sqlite" });
    await (await startIn(folder, { yaml })).stop();
    const port = String(await freePort());
    const ignored = { STORE: "memory:", BASE_URL: "https://broker.example.com" };
    const env = { PORT: port, ...ignored, OTEL_EXPORTER_OTLP_ENDPOINT: "", NODE_V8_COVERAGE: coverage };
    const sandbox = await startBrokerProcess({ entry: "src", args: ["--sandbox"], folder, env });
    expect(sandbox.url).toBe(`http://127.0.0.1:${port}`);
    // A warning may come after the line that says where it listens.
    await expect.poll(() => sandbox.stdout()).toContain("does not read broker.yaml, BASE_URL, STORE.");
    expect((await send(`${sandbox.url}/readyz`)).status).toBe(200);
    expect(readdirSync(join(folder, "data", "sandbox"))).toContain(`broker-127.0.0.1-${port}.sqlite`);
    expect(clientIn(folder)["issuer"]).toBe(sandbox.url);
    await sandbox.stop();
    // Nothing is asked of the store while it is closed.
    expect(sandbox.stdout()).toContain('"event":"stopping"');
    expect(sandbox.stdout()).not.toContain('"level":"error"');
    expect(sandbox.stderr()).toContain("sandbox-client.json");
    const urls = readCoverage(coverage).map(({ url }) => url);
    expect(urls.some((url) => url.endsWith("/storage/sqlite/record-store.ts"))).toBe(true);
    expect(urls.filter((url) => /@aws-sdk|@smithy|dynalite|\/storage\/dynamodb\/|\/kms\.ts$/.test(url))).toEqual([]);
    const ofTraces = urls.flatMap((url) => url.match(/@opentelemetry\/[\w-]+(?=\/)/)?.[0] ?? []);
    expect([...new Set(ofTraces)]).toEqual(["@opentelemetry/api"]);

    const again = await startIn(folder, { yaml });
    expect((await send(`${again.url}/readyz`)).status).toBe(200);
    await again.stop();
  });

  it("keeps its client over restarts, in files for their owner, with more redirect URIs", async () => {
    const folder = temporaryFolder();
    const env = { PORT: String(await freePort()) };
    const first = await startIn(folder, { env });
    const { client_id, client_secret, issuer } = clientIn(folder);
    expect(issuer).toBe(first.url);
    const variables = join(folder, "data", "sandbox.env");
    expect(statSync(variables).mode & 0o777).toBe(0o600);
    expect(parseEnv(readFileSync(variables, "utf8"))).toMatchObject({
      BROKER_URL: first.url,
      BROKER_CLIENT_ID: client_id,
      BROKER_CLIENT_SECRET: client_secret,
      GITHUB_API_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      GOOGLE_WORKSPACE_API_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    });
    await first.stop();

    const write = (...more_redirect_uris: string[]): void =>
      writeFileSync(
        join(folder, "data", "sandbox-client.json"),
        JSON.stringify({ client_id, client_secret, more_redirect_uris }),
      );
    write("http://127.0.0.1:9/cb");
    const second = await startIn(folder, { env });
    expect(clientIn(folder)).toMatchObject({
      client_id,
      client_secret,
      more_redirect_uris: ["http://127.0.0.1:9/cb"],
      redirect_uris: [expect.any(String), "http://127.0.0.1:3000/oauth/callback", "http://127.0.0.1:9/cb"],
    });
    expect(second.said()).not.toContain('"level":"error"');
    await second.stop();

    write("http://elsewhere.example/cb");
    await expect(startIn(folder, { env })).rejects.toThrow("redirect_uri must be https");
  });
});
