import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Secret } from "@oauth-broker/oauth-core";
import type { SettingsChange } from "../connectors/store.ts";
import { type DeployBench, openDeployBench } from "../testing/run-deploy.ts";
import {
  greedyProject,
  HOSTED_YAML,
  NONE_YAML,
  PRE_REGISTERED_YAML,
  readStolen,
  serverProject,
  writeProject,
} from "../testing/server-project.ts";

let bench: DeployBench;
afterEach(() => bench.close());

const CLIENT: SettingsChange = {
  authentication: "oauth_2_1",
  registration: "pre_registered_client",
  clientId: "client-1",
  clientSecret: new Secret("secret-1"),
  authorizationUrl: "https://id.example.com/authorize",
  tokenUrl: "https://id.example.com/token",
  scopes: "read",
};
const stateOf = async (): Promise<string | undefined> => (await bench.storage.connectors.find("notes"))?.state;

describe("deploy init", () => {
  it("makes a draft once, and changes nothing the second time", async () => {
    bench = await openDeployBench(serverProject(PRE_REGISTERED_YAML));
    expect(await bench.init()).toBe(0);
    expect(await bench.storage.connectors.find("notes")).toMatchObject({
      state: "draft",
      settings: { authentication: "none", registration: "none" },
    });
    expect(bench.said()).toContain("Settings tab");
    await bench.storage.connectors.changeSettings("notes", CLIENT);
    expect(await bench.init()).toBe(0);
    expect(bench.said()).toContain("is there already (draft)");
    expect(await bench.storage.connectors.find("notes")).toMatchObject({ settings: { clientId: "client-1" } });
  });

  it("knows the settings of a hosted server", async () => {
    bench = await openDeployBench(serverProject(HOSTED_YAML));
    await bench.init();
    expect(await bench.storage.connectors.find("notes")).toMatchObject({
      settings: { authentication: "oauth_2_1", registration: "hosted_server" },
    });
  });

  it("makes nothing of a bad service.yaml, or none", async () => {
    bench = await openDeployBench(serverProject(`${PRE_REGISTERED_YAML}service: {expose: [/mcp]}\n`));
    await expect(bench.init()).rejects.toThrow(/service\.expose must not be set/);
    rmSync(join(bench.folder, "service.yaml"));
    await expect(bench.init()).rejects.toThrow(/There is no service\.yaml/);
    expect(await bench.storage.connectors.list()).toEqual([]);
  });
});

describe("deploy run", () => {
  it("without a connector says to make one", async () => {
    bench = await openDeployBench(serverProject(PRE_REGISTERED_YAML));
    await expect(bench.run().code).rejects.toThrow(/run deploy init first/);
  });

  it("a pre-registered server whose client nobody entered stays a draft; entered, the next deploy activates it", async () => {
    bench = await openDeployBench(serverProject(PRE_REGISTERED_YAML));
    await bench.init();
    const first = bench.run();
    expect(await first.outcome).toEqual({
      event: "deployed",
      connector: "notes",
      state: "draft",
      test: "client_missing",
    });
    expect(await first.code).toBe(3);
    expect(bench.said()).toContain("The server answers 401, and no OAuth client is configured.");
    expect(await bench.storage.connectors.deployment("notes")).toMatchObject({ mode: "pre-registered", expose: [] });

    const { serverUrl } = await bench.storage.connectors.changeSettings("notes", CLIENT);
    const second = bench.run();
    expect(await second.outcome).toMatchObject({ state: "active", url: serverUrl });
    expect(await stateOf()).toBe("active");
    const answer = await fetch(serverUrl!, { method: "POST" });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await second.stop()).toBe(0);
    await expect(fetch(serverUrl!)).rejects.toThrow("fetch failed");
  });

  it("with the client entered before, the first deploy activates", async () => {
    bench = await openDeployBench(serverProject(PRE_REGISTERED_YAML));
    await bench.init();
    await bench.storage.connectors.changeSettings("notes", CLIENT);
    expect(await bench.run().outcome).toMatchObject({ state: "active" });
  });

  it("a hosted server is activated, with its table, at an address that stays", async () => {
    bench = await openDeployBench(serverProject(HOSTED_YAML));
    await bench.init();
    const first = bench.run();
    const { state, url } = await first.outcome;
    expect(state).toBe("active");
    expect(bench.said()).toContain("Table notes-tokens, encrypted");
    expect(await bench.storage.connectors.deployment("notes")).toMatchObject({ enableDb: true, mode: "hosted" });
    await first.stop();
    expect((await bench.run().outcome)["url"]).toBe(url);
  });

  it("a server without OAuth is activated; it gets no platform token, and nobody passes without one", async () => {
    bench = await openDeployBench(serverProject(NONE_YAML, "no-oauth"));
    await bench.init();
    const { url, state } = await bench.run().outcome;
    expect(state).toBe("active");
    expect((await fetch(url!, { method: "POST" })).status).toBe(401);
    const token = await bench.storage.connectors.platformToken("notes");
    const headers = { authorization: `Bearer ${token.reveal()}` };
    expect((await fetch(url!, { method: "POST", headers })).status).toBe(200);
  });

  it.each([
    ["global-auth", /a global auth middleware stands in front of the OAuth discovery routes/],
    ["accepts-any-caller", /The server accepts any caller/],
    ["cannot-check", /cannot check tokens now/],
    ["register-refuses", /Registration answers 400/],
  ])("a hosted server with %s fails, stays a draft, and nothing of it is kept", async (fault, said) => {
    bench = await openDeployBench(serverProject(HOSTED_YAML, fault));
    await bench.init();
    const run = bench.run();
    expect(await run.outcome).toEqual({ event: "deployed", connector: "notes", state: "draft", test: "failed" });
    expect(await run.code).toBe(1);
    expect(bench.said()).toMatch(said);
    expect(bench.said()).toContain("→");
    expect(await bench.storage.connectors.deployment("notes")).toBeUndefined();
  });

  it("an active connector stays active, with the deploy it has, when a later one fails", async () => {
    bench = await openDeployBench(serverProject(HOSTED_YAML));
    await bench.init();
    const first = bench.run();
    await first.outcome;
    await first.stop();
    const before = await bench.storage.connectors.deployment("notes");
    writeProject(bench.folder, HOSTED_YAML, "global-auth");
    expect(await bench.run().outcome).toMatchObject({ state: "active", test: "failed" });
    expect(await bench.storage.connectors.deployment("notes")).toEqual(before);
  });

  it("hands no variable of the deployer on that was not allowed: the server is not even started", async () => {
    const variables = { AWS_SECRET_ACCESS_KEY: "canary-of-the-deployer", OTHER: "canary-2" };
    bench = await openDeployBench(greedyProject(), variables);
    await bench.init();
    for (const allowed of [[], ["OTHER"]]) {
      await expect(bench.run(allowed).code).rejects.toThrow(/--env AWS_SECRET_ACCESS_KEY$/);
    }
    expect(readStolen(bench.folder)).toBe("");
    await bench.run(["AWS_SECRET_ACCESS_KEY", "OTHER"]).outcome;
    const environment = readStolen(bench.folder);
    expect(environment).toContain("HARMLESS=canary-of-the-deployer");
    for (const other of ["canary-2", "AWS_SECRET_ACCESS_KEY="]) expect(environment).not.toContain(other);
  });

  it("a server that does not start is told with its last words", async () => {
    bench = await openDeployBench(serverProject(HOSTED_YAML, "does-not-start"));
    await bench.init();
    await expect(bench.run().code).rejects.toThrow(/ended with code 3[^]*VENDOR_CLIENT_ID is missing/);
    expect(await stateOf()).toBe("draft");
    await bench.logs();
    expect(bench.printed()).toEqual(["VENDOR_CLIENT_ID is missing"]);
  });

  it("stopped before it is through, says so and leaves the connector as it was", async () => {
    bench = await openDeployBench(serverProject(HOSTED_YAML, "does-not-start"));
    await bench.init();
    expect(await bench.run().stop()).toBe(1);
    expect(bench.said()).toContain("Stopped before it was through");
    expect(await stateOf()).toBe("draft");
  });

  it("a project with nothing to start is told so", async () => {
    bench = await openDeployBench(serverProject(HOSTED_YAML));
    writeFileSync(join(bench.folder, "package.json"), "{}");
    await bench.init();
    await expect(bench.run().code).rejects.toThrow(/nothing to start/);
  });

  it("of two deploys at once one wins, and the other says who", async () => {
    bench = await openDeployBench(serverProject(NONE_YAML, "no-oauth"));
    await bench.init();
    const both = [bench.run(), bench.run()];
    const codes = await Promise.race(both.map(({ code }) => code));
    expect(codes).toBe(1);
    expect(bench.said()).toContain(`notes is deployed by process ${process.pid} since`);
    const outcomes = await Promise.allSettled(both.map(({ outcome }) => outcome));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("ends with the server", async () => {
    bench = await openDeployBench(serverProject(NONE_YAML, "no-oauth"));
    await bench.init();
    const run = bench.run();
    await run.outcome;
    const { pid } = (await bench.storage.connectors.deployment("notes"))!;
    process.kill(pid, "SIGTERM");
    expect(await run.code).toBe(1);
    expect(bench.said()).toContain("The server ended by itself");
  });
});

describe("deploy status", () => {
  it("tells state, address, client and whether it runs", async () => {
    bench = await openDeployBench(serverProject(PRE_REGISTERED_YAML));
    expect(await bench.status()).toBe(1);
    expect(bench.said()).toContain("run deploy init");
    await bench.init();
    expect(await bench.status()).toBe(0);
    expect(bench.printed().join()).toMatch(/notes: draft[^]*never deployed[^]*none entered[^]*does not run/);
    await bench.storage.connectors.changeSettings("notes", CLIENT);
    const { url } = await bench.run().outcome;
    await bench.status();
    expect(bench.printed().at(-1)).toContain(`notes: active`);
    expect(bench.printed().at(-1)).toContain(url!);
    expect(bench.printed().at(-1)).toContain(`runs in process ${process.pid}`);
    await bench.status(true);
    expect(JSON.parse(bench.printed().at(-1)!)).toMatchObject({
      connector: { id: "notes" },
      deploying: { pid: process.pid },
    });
    expect(bench.printed().join()).not.toContain("secret-1");
  });
});
