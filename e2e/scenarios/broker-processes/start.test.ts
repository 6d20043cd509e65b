/**
 * Starting the built broker: its messages when it cannot start, its behaviour when only the store
 * is down, and the sandbox's files.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runBrokerCommand, startBrokerProcess, temporaryFolder } from "../../support/broker/process.ts";
import { brokerYaml, createSecrets } from "../../support/broker/configuration.ts";
import { freePort } from "../../support/free-port.ts";
import { BROKER_BUNDLE } from "../../support/paths.ts";
import { createPlatform, send } from "../../support/broker/platform.ts";
import { findSecrets, plantSecret } from "../../support/secrets.ts";
import { textMember } from "../../support/text-member.ts";

const secrets = createSecrets();
let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("bar#XA-1 warns in the log of operator's vendors that share the callback without iss", async () => {
  const vendor = (id: string): string => `
  ${id}:
    name: ${id}
    authorization_endpoint: https://${id}.example/authorize
    token_endpoint: https://${id}.example/token
    credentials: { client_id: ${id}, client_secret: ${secrets.vendor} }`;
  const yaml = brokerYaml({
    baseUrl: `http://127.0.0.1:${await freePort()}`,
    secrets,
    issuer: "http://127.0.0.1:9",
    vendors: vendor("one") + vendor("two"),
  });
  const broker = await startBrokerProcess({ yaml });
  const said = broker.stdout() + broker.stderr();
  broker.signal("SIGKILL");
  await broker.exited();
  expect(said).toContain("Vendor one is one of your own and shares the callback with");
});

describe("a configuration with mistakes", () => {
  it("is refused with all problems, their places and corrections, without a secret", async () => {
    const yaml = `
base_url: http://broker.example.com/
listen: { port: 99999 }
stroe: "memory:"
clients:
  - client_id: platform
    client_secret: ${secrets.platform}
    redirect_uris: ["http://platform.example/cb", "https://platform.example/cb#x"]
    vendors: [opp]
vendors:
  op: { name: OP, issuer: "http://127.0.0.1:9", credentials: { client_id: broker, client_secret: ${secrets.vendor} } }
`;
    writeFileSync(join(folder, "wrong.yaml"), yaml);
    const { code, stdout, stderr } = await runBrokerCommand([], folder, { env: { BROKER_CONFIG: "wrong.yaml" } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    for (const path of [
      "base_url",
      "listen.port",
      "stroe",
      "clients[0].redirect_uris[0]",
      "clients[0].redirect_uris[1]",
      "clients[0].vendors[0]",
      "vendors.op.issuer",
    ]) {
      expect(stderr).toContain(path);
    }
    expect(stderr).toContain("did you mean");
    expect(stderr).not.toMatch(/\n {4}at /);
    expect(findSecrets(stderr)).toEqual([]);
  });

  it("is refused when BROKER_CONFIG names no file, or half of a deployment is there", async () => {
    const missing = await runBrokerCommand([], folder, { env: { BROKER_CONFIG: "none.yaml" } });
    expect(missing).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("none.yaml") });
    const half = await runBrokerCommand([], folder, { env: { BASE_URL: "https://broker.example.com" } });
    expect(half).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("BROKER_CONFIG") });
  });

  it("is checked without starting anything", async () => {
    const yaml = brokerYaml({ baseUrl: "http://127.0.0.1:1", secrets, issuer: "http://127.0.0.1:9" });
    writeFileSync(join(folder, "right.yaml"), yaml);
    const { code, stdout } = await runBrokerCommand(["check"], folder, { env: { BROKER_CONFIG: "right.yaml" } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/clients +platform, other\n/);
    expect(findSecrets(stdout)).toEqual([]);
  });
});

describe("a port in use", () => {
  it("is said in one line with what to do", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const yaml = brokerYaml({ baseUrl: `http://127.0.0.1:${port}`, secrets, issuer: "http://127.0.0.1:9" });
    writeFileSync(join(folder, "taken.yaml"), yaml);
    const { code, stderr } = await runBrokerCommand([], folder, { env: { BROKER_CONFIG: "taken.yaml" } });
    expect(code).toBe(1);
    expect(stderr.trim()).toMatch(new RegExp(`^Port ${port} is in use\\..*PORT=\\d+\\.$`));
    taken.close();
  });
});

describe("a store that is down at start", () => {
  it("does not stop the process: it says so, and works once the store is there", async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const own = join(folder, "down");
    mkdirSync(own);
    // A file instead of the database's folder.
    writeFileSync(join(own, "data"), "");
    const yaml = brokerYaml({ baseUrl, secrets, issuer: "http://127.0.0.1:9", store: "sqlite:./data/broker.sqlite" });
    const broker = await startBrokerProcess({ yaml, folder: own });
    const platform = createPlatform({ baseUrl, clientSecret: secrets.platform });
    expect((await send(`${baseUrl}/healthz`)).status).toBe(200);
    expect((await send(`${baseUrl}/readyz`)).status).toBe(503);
    expect(await platform.par()).toMatchObject({ status: 503, body: { error: "temporarily_unavailable" } });
    rmSync(join(own, "data"));
    await expect.poll(async () => (await send(`${baseUrl}/readyz`)).status, { interval: 100 }).toBe(200);
    await broker.stop();
  });
});

describe.runIf(process.platform === "linux")("a folder in which nothing can be made", () => {
  it.each([
    ["store", { store: "sqlite:/proc/nope/broker.sqlite" }],
    ["keys", { store: "sqlite:./keys-elsewhere.sqlite", keys: "file:/proc/nope/keys.json" }],
  ])("%s: the process runs, is not ready, and ends when it is asked to", async (_, places) => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const yaml = brokerYaml({ baseUrl, secrets, issuer: "http://127.0.0.1:9", ...places });
    const broker = await startBrokerProcess({ yaml, folder });
    expect((await send(`${baseUrl}/healthz`)).status).toBe(200);
    expect((await send(`${baseUrl}/readyz`)).status).toBe(503);
    await broker.stop();
  });
});

describe("the built file alone", () => {
  it("runs in an empty folder", async () => {
    const alone = join(folder, "alone");
    mkdirSync(alone);
    const file = join(alone, "main.js");
    copyFileSync(BROKER_BUNDLE, file);
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [file, ...args], { cwd: alone, env: {}, encoding: "utf8", timeout: 60_000 });
    expect(run("--version")).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(run("--help")).toMatchObject({ status: 0, stdout: expect.stringContaining("keys rotate") });
    expect(run("nonsense")).toMatchObject({ status: 2, stdout: "" });
    // The sandbox is not in the bundle, and the message says so.
    for (const args of [[], ["check"], ["--sandbox"]]) {
      const sandbox = run(...args);
      expect(sandbox).toMatchObject({ status: 1, stdout: "" });
      expect(sandbox.stderr).toContain("has no sandbox");
      expect(sandbox.stderr).toContain("npm start");
      expect(sandbox.stderr).not.toMatch(/\n {4}at /);
    }
    expect(readdirSync(alone)).toEqual(["main.js"]);
  });
});

describe("the sandbox", () => {
  it("keeps its client over a restart, in a file for its owner only, and prints no secret", async () => {
    const own = join(folder, "sandbox");
    mkdirSync(own);
    const env = { PORT: String(await freePort()) };
    const clients: string[] = [];
    for (let count = 0; count < 2; count += 1) {
      const broker = await startBrokerProcess({ entry: "src", folder: own, env });
      const file = join(own, "data", "sandbox-client.json");
      const client = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
      plantSecret("the sandbox client's secret", textMember(client, "client_secret"));
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(client["issuer"]).toBe(broker.url);
      const variables = join(own, "data", "sandbox.env");
      expect(statSync(variables).mode & 0o777).toBe(0o600);
      expect(parseEnv(readFileSync(variables, "utf8"))).toMatchObject({
        BROKER_URL: broker.url,
        BROKER_CLIENT_ID: client["client_id"],
        BROKER_CLIENT_SECRET: client["client_secret"],
        GITHUB_API_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        GOOGLE_WORKSPACE_API_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      });
      expect(broker.url).toBe(`http://127.0.0.1:${env.PORT}`);
      clients.push(`${textMember(client, "client_id")}:${textMember(client, "client_secret")}`);
      await broker.stop();
      // Nothing is asked of the store while it is closed.
      expect(broker.stdout()).toContain('"event":"stopping"');
      expect(broker.stdout()).not.toContain('"level":"error"');
      expect(broker.stderr()).toContain("sandbox-client.json");
    }
    expect(clients[0]).toBe(clients[1]);
  });

  it("is what npm start runs in any folder, beside the data of a broker there (#29)", async () => {
    const own = join(folder, "beside-a-broker");
    const yaml = brokerYaml({
      baseUrl: `http://127.0.0.1:${await freePort()}`,
      secrets,
      issuer: "http://127.0.0.1:9",
      store: "sqlite:./data/broker.sqlite",
    });
    mkdirSync(own);
    const served = await startBrokerProcess({ yaml, folder: own });
    await served.stop();
    const env = { PORT: String(await freePort()), STORE: "memory:", BASE_URL: "https://broker.example.com" };
    const sandbox = await startBrokerProcess({ entry: "src", args: ["--sandbox"], folder: own, env });
    expect(sandbox.url).toBe(`http://127.0.0.1:${env.PORT}`);
    // A warning may come after the line that says where it listens.
    await expect.poll(() => sandbox.stdout()).toContain("does not read broker.yaml, BASE_URL, STORE.");
    expect((await send(`${sandbox.url}/readyz`)).status).toBe(200);
    expect(readdirSync(join(own, "data", "sandbox"))).toEqual(expect.arrayContaining(["broker.sqlite"]));
    plantSecret(
      "the sandbox client's secret",
      textMember(JSON.parse(readFileSync(join(own, "data", "sandbox-client.json"), "utf8")), "client_secret"),
    );
    await sandbox.stop();
    const again = await startBrokerProcess({ yaml, folder: own });
    expect((await send(`${again.url}/readyz`)).status).toBe(200);
    await again.stop();
    // Its commands are about the sandbox too.
    const { stdout } = await runBrokerCommand(["check", "--sandbox"], own, { entry: "src" });
    expect(stdout).toMatch(/^configuration {2}none: the sandbox\n[^]*data\/sandbox\/broker\.sqlite/);
  });

  it("takes further redirect URIs from that file, and refuses those that no client may register", async () => {
    const own = join(folder, "more-redirect-uris");
    const file = join(own, "data", "sandbox-client.json");
    mkdirSync(join(own, "data"), { recursive: true });
    const client = { client_id: "mine", client_secret: secrets.platform };
    const env = { PORT: String(await freePort()) };
    writeFileSync(file, JSON.stringify({ ...client, more_redirect_uris: ["http://127.0.0.1:9/cb"] }));
    const broker = await startBrokerProcess({ entry: "src", folder: own, env });
    const kept = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    expect(kept).toMatchObject({ ...client, more_redirect_uris: ["http://127.0.0.1:9/cb"] });
    expect(kept["redirect_uris"]).toEqual([
      expect.any(String),
      "http://127.0.0.1:3000/oauth/callback",
      "http://127.0.0.1:9/cb",
    ]);
    await broker.stop();

    writeFileSync(file, JSON.stringify({ ...client, more_redirect_uris: ["http://elsewhere.example/cb"] }));
    const refused = await runBrokerCommand([], own, { entry: "src", env });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("redirect_uri must be https");
  });
});
