import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Secret } from "@oauth-broker/oauth-core";
import { patience } from "@oauth-broker/oauth-core/testing";
import { type DeployFixture, openDeployFixture } from "../testing/run-deploy.ts";
import {
  greedyProject,
  HOSTED_YAML,
  NONE_YAML,
  PRE_REGISTERED_YAML,
  readStolen,
  serverProject,
  writeProject,
} from "../testing/server-project.ts";
import { CLIENT } from "../testing/test-storage.ts";

let fixture: DeployFixture;
afterEach(() => fixture.close());

const SETTINGS = { ...CLIENT, clientSecret: new Secret("secret-1"), scopes: "read" };
/** With the connector as `deploy init` leaves it. */
async function initialized(...given: Parameters<typeof openDeployFixture>): Promise<void> {
  fixture = await openDeployFixture(...given);
  await fixture.init();
}

const notes = () => fixture.storage.connectors.find("notes");

describe("deploy init", () => {
  it("creates a draft once, and changes nothing the second time", async () => {
    fixture = await openDeployFixture(serverProject(PRE_REGISTERED_YAML));
    expect(await fixture.init()).toBe(0);
    const settings = { authentication: "none", registration: "none" };
    expect(await notes()).toMatchObject({ state: "draft", settings });
    expect(fixture.said()).toContain("Settings tab");
    await fixture.storage.connectors.changeSettings("notes", SETTINGS);
    expect(await fixture.init()).toBe(0);
    expect(fixture.said()).toContain("already exists (draft)");
    expect(await notes()).toMatchObject({ settings: { clientId: "client-1" } });
  });

  it("knows the settings of a hosted server", async () => {
    await initialized(serverProject(HOSTED_YAML));
    const settings = { authentication: "oauth_2_1", registration: "hosted_server" };
    expect(await notes()).toMatchObject({ settings });
  });

  it.each([
    [{ OAUTH_CALLBACK: "server" }, "DEPLOYMENT_URL/callback"],
    [{ VENDORS: "a,b" }, "DEPLOYMENT_URL/callback at the vendor of the sign-in, DEPLOYMENT_URL/vendors/ID/callback"],
    [{ OAUTH_CALLBACK: "platform" }, "http://127.0.0.1:8789/oauth/connectors/notes/callback"],
  ])("says which redirect URI a hosted server with %j has at the vendor", async (environment, redirectUri) => {
    fixture = await openDeployFixture(serverProject(HOSTED_YAML));
    writeProject(fixture.folder, HOSTED_YAML, environment);
    await fixture.init();
    expect(fixture.said()).toContain(`register with the vendor: ${redirectUri}`);
    await fixture.status();
    expect(fixture.printed().at(-1)).toContain(`redirect URI   ${redirectUri}`);
  });

  it("creates nothing for an invalid, missing or unreadable service.yaml", async () => {
    fixture = await openDeployFixture(serverProject(`${PRE_REGISTERED_YAML}service: {expose: [/mcp]}\n`));
    await expect(fixture.init()).rejects.toThrow(/service\.expose must not be set/);
    writeFileSync(join(fixture.folder, "service.yaml"), Buffer.from("name: \u00fc", "latin1"));
    await expect(fixture.init()).rejects.toThrow(/service\.yaml cannot be read \(not UTF-8\)/);
    rmSync(join(fixture.folder, "service.yaml"));
    await expect(fixture.init()).rejects.toThrow(/There is no service\.yaml/);
    mkdirSync(join(fixture.folder, "service.yaml"));
    await expect(fixture.init()).rejects.toThrow(/service\.yaml cannot be read \(EISDIR\)/);
    expect(await fixture.storage.connectors.list()).toEqual([]);
  });
});

describe("deploy run", () => {
  it("without a connector says to create one", async () => {
    fixture = await openDeployFixture(serverProject(PRE_REGISTERED_YAML));
    await expect(fixture.run().code).rejects.toThrow(/Run deploy init first/);
  });

  it("a pre-registered server stays a draft until a deploy after its client was entered", async () => {
    await initialized(serverProject(PRE_REGISTERED_YAML));
    const first = fixture.run();
    const outcome = { event: "deployed", connector: "notes", state: "draft", test: "client_missing" };
    expect(await first.outcome).toEqual(outcome);
    expect(await first.code).toBe(3);
    expect(fixture.said()).toContain("The server answers 401, and no OAuth client is configured.");
    expect(await fixture.storage.connectors.deployment("notes")).toMatchObject({ mode: "pre-registered", expose: [] });

    const { serverUrl } = await fixture.storage.connectors.changeSettings("notes", SETTINGS);
    const second = fixture.run();
    expect(await second.outcome).toMatchObject({ state: "active", url: serverUrl });
    expect((await notes())?.state).toBe("active");
    const answer = await fetch(serverUrl!, { method: "POST" });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await second.stop()).toBe(0);
    await expect(fetch(serverUrl!)).rejects.toThrow("fetch failed");
  });

  it("a hosted server is activated, with its table, and stays so when a later deploy fails", async () => {
    await initialized(serverProject(HOSTED_YAML));
    const first = fixture.run();
    const { state, url } = await first.outcome;
    expect(state).toBe("active");
    expect(fixture.said()).toContain("Table notes-tokens, encrypted");
    const before = await fixture.storage.connectors.deployment("notes");
    expect(before).toMatchObject({ enableDb: true, mode: "hosted" });
    await first.stop();
    writeProject(fixture.folder, HOSTED_YAML, { FAULT: "global-auth" });
    expect(await fixture.run().outcome).toMatchObject({ state: "active", test: "failed" });
    expect(await fixture.storage.connectors.deployment("notes")).toEqual(before);
    expect(await notes()).toMatchObject({ serverUrl: url });
  });

  it("a hosted server behind a global auth middleware fails, and leaves nothing behind", async () => {
    await initialized(serverProject(HOSTED_YAML, "global-auth"));
    const run = fixture.run();
    expect(await run.outcome).toEqual({ event: "deployed", connector: "notes", state: "draft", test: "failed" });
    expect(await run.code).toBe(1);
    expect(fixture.said()).toMatch(/a global auth middleware is in front of[^]*→ [^]*protect POST \/mcp only/);
    expect(await fixture.storage.connectors.deployment("notes")).toBeUndefined();
  });

  it("a server without OAuth is not open, gets no platform token, and ends its deploy when it ends", async () => {
    await initialized(serverProject(NONE_YAML, "no-oauth"));
    const run = fixture.run();
    const { url, state } = await run.outcome;
    expect(state).toBe("active");
    expect((await fetch(url!, { method: "POST" })).status).toBe(401);
    const token = await fixture.storage.connectors.platformToken("notes");
    const headers = { authorization: `Bearer ${token.reveal()}` };
    expect((await fetch(url!, { method: "POST", headers })).status).toBe(200);
    const { pid } = (await fixture.storage.connectors.deployment("notes"))!;
    process.kill(pid, "SIGTERM");
    expect(await run.code).toBe(1);
    expect(fixture.said()).toContain("The server ended by itself");
  });

  it("hands no variable of the deployer on that was not allowed: the server is not even started", async () => {
    const variables = { AWS_SECRET_ACCESS_KEY: "canary-of-the-deployer", OTHER: "canary-2" };
    await initialized(greedyProject(), variables);
    for (const allowed of [[], ["OTHER"]]) {
      await expect(fixture.run(allowed).code).rejects.toThrow(/--env AWS_SECRET_ACCESS_KEY$/);
    }
    expect(readStolen(fixture.folder)).toBe("");
    await fixture.run(["AWS_SECRET_ACCESS_KEY", "OTHER"]).outcome;
    const environment = readStolen(fixture.folder);
    expect(environment).toContain("HARMLESS=canary-of-the-deployer");
    for (const other of ["canary-2", "AWS_SECRET_ACCESS_KEY="]) expect(environment).not.toContain(other);
    expect(fixture.said()).toContain("--env OTHER: no variable of service.yaml says env:OTHER");
    expect(fixture.said()).not.toContain("says env:AWS_SECRET_ACCESS_KEY");
  });

  it("a server that does not start is reported with the end of its output", async () => {
    await initialized(serverProject(HOSTED_YAML, "does-not-start"));
    await expect(fixture.run().code).rejects.toThrow(/ended with code 3[^]*VENDOR_CLIENT_ID is missing/);
    expect((await notes())?.state).toBe("draft");
    await fixture.logs();
    expect(fixture.printed()).toEqual(["VENDOR_CLIENT_ID is missing"]);
  });

  it(
    "stopped before it has finished, ends at once and leaves the connector unchanged",
    async () => {
      await initialized(serverProject(NONE_YAML));
      writeProject(fixture.folder, NONE_YAML, {}, "sleep 600");
      expect(await fixture.run().stop()).toBe(1);
      expect(fixture.said()).toContain("Stopped before the deploy finished");
      expect((await notes())?.state).toBe("draft");
    },
    patience(20_000),
  );

  it("a project with nothing to start is reported", async () => {
    fixture = await openDeployFixture(serverProject(HOSTED_YAML));
    writeFileSync(join(fixture.folder, "package.json"), "{}");
    await fixture.init();
    await expect(fixture.run().code).rejects.toThrow(/nothing to start/);
  });

  it("of two deploys at once one wins, and the other names it", async () => {
    await initialized(serverProject(NONE_YAML, "no-oauth"));
    const both = [fixture.run(), fixture.run()];
    const codes = await Promise.race(both.map(({ code }) => code));
    expect(codes).toBe(1);
    expect(fixture.said()).toContain(`notes is deployed by process ${process.pid} since`);
    const outcomes = await Promise.allSettled(both.map(({ outcome }) => outcome));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

it("deploy status shows state, address, client and whether it runs", async () => {
  fixture = await openDeployFixture(serverProject(PRE_REGISTERED_YAML));
  expect(await fixture.status()).toBe(1);
  expect(fixture.said()).toContain("Run deploy init");
  await fixture.init();
  expect(await fixture.status()).toBe(0);
  expect(fixture.printed().join()).toMatch(/notes: draft[^]*never deployed[^]*none entered[^]*not running/);
  await fixture.storage.connectors.changeSettings("notes", SETTINGS);
  const { url } = await fixture.run().outcome;
  await fixture.status();
  expect(fixture.printed().at(-1)).toContain(`notes: active`);
  expect(fixture.printed().at(-1)).toContain(url!);
  expect(fixture.printed().at(-1)).toContain(`runs in process ${process.pid}`);
  await fixture.status(true);
  const status = { connector: { id: "notes" }, deploying: { pid: process.pid } };
  expect(JSON.parse(fixture.printed().at(-1)!)).toMatchObject(status);
  expect(fixture.printed().join()).not.toContain("secret-1");
});
