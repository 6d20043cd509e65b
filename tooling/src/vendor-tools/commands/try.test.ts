import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { startOpenIdProvider } from "@oauth-broker/simulators";
import type { Fixture } from "@oauth-broker/simulators/fixtures";
import { startLinear } from "@oauth-broker/simulators/vendors";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  replayFixture,
  type SimulatorSetup,
  SIMULATORS,
} from "../../../../packages/simulators/src/testing/replay-fixture.ts";
import { systemClock } from "@oauth-broker/oauth-core";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { createAsk } from "../terminal.ts";
import { atSimulator, startSimulator } from "../testing/at-simulator.ts";
import { expectRefused, type InProcess, runInProcess } from "../testing/in-process.ts";
import { CLIENT_ID, CLIENT_SECRET, userAt } from "../testing/user.ts";
import { startVendorTool } from "../testing/vendor-process.ts";

const own = (id: string): Record<string, string> => {
  const prefix = `VENDOR_${id.toUpperCase().replaceAll("-", "_")}`;
  return { [`${prefix}_CLIENT_ID`]: CLIENT_ID, [`${prefix}_CLIENT_SECRET`]: CLIENT_SECRET };
};

function argsFor({ simulator, resource }: SimulatorSetup, out: string): string[] {
  const wanted = resource === undefined ? [] : ["--resource", resource];
  return ["try", ...atSimulator(simulator), "--port", "0", "--out", out, ...wanted];
}

function fixtureIn(folder: string): Fixture {
  const [name = ""] = readdirSync(folder);
  return JSON.parse(readFileSync(join(folder, name), "utf8")) as Fixture;
}

/** A whole run, with a user who answers. */
async function tryAt(harness: SimulatorSetup, user = userAt(harness.simulator), more: InProcess = {}) {
  const out = temporaryFolder();
  const environment = { env: own(harness.simulator.id), now: systemClock, onTell: user.hear, ...more };
  return { out, ...(await runInProcess(argsFor(harness, out), environment)) };
}

describe("vendor try", () => {
  it.each(Object.keys(SIMULATORS))("records %s, and its simulator replays it", async (id) => {
    const harness = await startSimulator(id);
    const user = userAt(harness.simulator);
    const { out, code, stdout } = await tryAt(harness, user);
    expect(await user.returned).toContain("You can close this window");
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Recorded .*/${id}-\\d{4}-\\d\\d-\\d\\d\\.json\n$`));
    const fixture = fixtureIn(out);
    expect(fixture).toMatchObject({
      format: 1,
      vendor: id,
      legs: [{ leg: "callback" }, { leg: "code" }, {}, ...(fixture.legs.length > 3 ? [{ leg: "revoke" }] : [])],
    });
    expect(await replayFixture(fixture)).toEqual([]);
  });

  it("is a process that shows and records nothing of the answers, and leaves no token alive", async () => {
    const vendor = await startLinear();
    onTestFinished(() => vendor.close());
    const out = temporaryFolder();
    const rewrite = (answer: Record<string, unknown>): Record<string, unknown> => ({
      ...answer,
      email: "CANARY@example.com",
      "CANARY-name": { user: { name: "CANARY", id: ["CANARY"] } },
    });
    vendor.faultNext("/token", { kind: "rewrite", rewrite });
    const tool = startVendorTool(argsFor({ simulator: vendor }, out), own("linear"));
    const user = userAt(vendor);
    user.hear((await tool.said(/^Register this redirect URI.*$/m))[0]);
    user.hear((await tool.said(/^Open in a browser.*\nhttp.*$/m))[0]);
    await user.returned;
    const { code, stdout, stderr } = await tool.ended;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining("code: tokens\nrefresh: tokens\nrevoke: token\n"),
    });
    const fixture = fixtureIn(out);
    expect(fixture.legs[1]?.answer).toMatchObject({
      status: 200,
      contentType: "application/json",
      headers: ["cache-control", "pragma"],
      body: {
        access_token: "string",
        token_type: "string: bearer",
        scope: "string: read",
        "(unlisted)": expect.any(Array),
      },
    });
    expect(`${JSON.stringify(fixture)}${stdout}${stderr}`).not.toContain("CANARY");
    expect(vendor.liveTokens()).toEqual([]);
  });

  it("lets an OpenID provider make a client for the run, and checks the ID token", async () => {
    const provider = await startOpenIdProvider({ clients: [], registration: {} });
    onTestFinished(() => provider.close());
    const { issuer } = provider;
    const endpoints = {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      revocation_endpoint: `${issuer}/token/revocation`,
      registration_endpoint: `${issuer}/reg`,
    };
    const out = temporaryFolder();
    const args = ["try", ...atSimulator({ id: "linear", endpoints }), "--port", "0", "--out", out, "--register"];
    const user = userAt({ addClient: () => {} });
    const environment: InProcess = { now: systemClock, onTell: user.hear };
    const { code, stderr } = await runInProcess([...args, "--scope", "openid api:read"], environment);
    await user.returned;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining("has registered a client for this run"),
    });
    expect(fixtureIn(out).legs.map(({ leg, outcome, answer }) => [leg, outcome, answer?.status])).toEqual([
      ["callback", "code", undefined],
      ["code", "tokens", 200],
      ["refresh", "tokens", 200],
      ["revoke", "token", 200],
    ]);
    expect(fixtureIn(out).legs[1]?.answer?.body).toMatchObject({
      id_token: "string",
      scope: "string: openid api:read",
    });
  });

  it("says what is left to do where a vendor has no revocation", async () => {
    const { stderr } = await tryAt(await startSimulator("microsoft-agent365"));
    expect(stderr).toContain("revoke: unsupported_token_type\n");
    expect(stderr).toContain(
      "The tokens of this run are still valid at Microsoft Agent 365. Open myapps.microsoft.com",
    );
  });

  it.each<[string, "cancel" | "approve", (callback: URL) => void, string]>([
    ["the user cancels", "cancel", () => {}, "Nothing was recorded. access_denied"],
    ["the state is another", "approve", (url) => url.searchParams.set("state", "x"), "has another state"],
    ["another vendor answers", "approve", (url) => url.searchParams.set("iss", "https://a.example"), "issuer_mismatch"],
    ["the code is another", "approve", (url) => url.searchParams.set("code", "x"), "invalid_grant"],
  ])("records nothing when %s", async (_, decision, alter, sentence) => {
    const harness = await startSimulator("linear");
    const user = userAt(harness.simulator, decision, alter);
    const { out, code, stderr } = await tryAt(harness, user);
    await user.returned;
    expect(stderr).toContain(sentence);
    expect(code).toBe(1);
    expect(readdirSync(out)).toEqual([]);
  });

  it("records no outage, and still revokes", async () => {
    const harness = await startSimulator("linear");
    const { simulator } = harness;
    simulator.faultNext("/token", { kind: "rewrite", rewrite: (answer) => answer });
    simulator.faultNext("/token", { kind: "answer", status: 503 });
    const { out, code, stderr } = await tryAt(harness);
    expect(stderr).toContain(
      "refresh: temporarily_unavailable\nrevoke: token\nNothing was recorded. temporarily_unavailable",
    );
    expect(code).toBe(2);
    expect(readdirSync(out)).toEqual([]);
    expect(simulator.liveTokens()).toEqual([]);
  });

  it("goes on waiting when something else comes to the listener", async () => {
    const harness = await startSimulator("linear");
    const user = userAt(harness.simulator);
    const stray: Promise<number>[] = [];
    const onTell = (line: string): void => {
      const uri = /^Register this redirect URI.*: (http\S+)$/m.exec(line)?.[1];
      if (uri !== undefined) stray.push(...[uri, `${uri}/x?code=a`].map(async (url) => (await fetch(url)).status));
      user.hear(line);
    };
    const { code } = await tryAt(harness, user, { onTell });
    expect(await Promise.all(stray)).toEqual([404, 404]);
    expect(code).toBe(0);
  });

  it("asks at the terminal for what no variable says, and never shows a secret", async () => {
    const harness = await startSimulator("linear");
    const input = new PassThrough();
    const output = new PassThrough();
    let shown = "";
    output.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
      // Typed after the question is printed.
      if (text.includes("client id")) input.write(`${CLIENT_ID}\r`);
      if (text.includes("client secret")) input.write(`${CLIENT_SECRET}\r`);
    });
    expect((await tryAt(harness, undefined, { env: {}, ask: createAsk(input, output) })).code).toBe(0);
    expect(shown).toContain(CLIENT_ID);
    expect(shown).toContain("client secret (not shown; empty for a public client): ");
    expect(shown).not.toContain("CANARY");
  });

  it("stops when the user interrupts, and reports only that", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    output.on("data", (text: Buffer) => void (text.includes("client id") && input.write("\u0003")));
    const ask = createAsk(input, output);
    const { code, stderr } = await tryAt(await startSimulator("linear"), undefined, { env: {}, ask });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/callback\nStopped. Nothing was tried\n$/),
    });
  });

  it("waits no longer than its timeout, and reports that", async () => {
    const harness = await startSimulator("linear");
    const args = [...argsFor(harness, temporaryFolder()), "--timeout", "0"];
    expect(await runInProcess(args, { env: own("linear") })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("No callback within 0 seconds"),
    });
  });

  it("says which port is taken, and does not overwrite a fixture", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const out = temporaryFolder();
    const harness = await startSimulator("linear");
    const args = argsFor(harness, out).map((arg) => (arg === "0" ? String(port) : arg));
    expect(await runInProcess(args, { env: own("linear") })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`Cannot listen on 127.0.0.1:${port} (EADDRINUSE)`),
    });
    writeFileSync(join(out, "linear-2026-11-21.json"), "mine");
    expect(await runInProcess(argsFor(harness, out), { env: own("linear") })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("linear-2026-11-21.json already exists and is not overwritten"),
    });
  });

  it("sends nothing when the arguments are invalid, or the credentials are missing", async () => {
    const elsewhere = ["--endpoint", "token_endpoint=https://a.example"];
    await expectRefused([
      [["try"], "try takes one vendor"],
      [["try", "unknown"], "The vendor unknown does not exist"],
      [["try", "github"], "VENDOR_GITHUB_CLIENT_ID and VENDOR_GITHUB_CLIENT_SECRET are not set"],
      [["try", "microsoft-agent365"], "VENDOR_MICROSOFT_AGENT365_CLIENT_ID"],
      [["try", "okta"], "--placeholder okta_host=VALUE"],
      [["try", "github", ...elsewhere], "give --out FOLDER"],
      [["try", "github", "--port", "70000"], "--port takes a whole number from 0 to 65535"],
      [["try", "github", "--client-secret", "x"], "Unknown option"],
    ]);
    const half = await runInProcess(["try", "github"], { env: { VENDOR_GITHUB_CLIENT_ID: "a" } });
    expect(half.stderr).toBe("There is no terminal for input, and VENDOR_GITHUB_CLIENT_SECRET is not set\n");
    const foreign = [
      ...argsFor(await startSimulator("linear"), temporaryFolder()),
      "--redirect-uri",
      "ftp://a.example",
    ];
    expect((await runInProcess(foreign, { env: own("linear") })).stderr).toContain(
      "--redirect-uri: An endpoint must be",
    );
    expect(await runInProcess(["try", "github"])).toMatchObject({ code: 2 });
    expect((await runInProcess(["try", "--help"])).stdout).toContain("--redirect-uri");
  });
});
