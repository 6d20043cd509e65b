/**
 * The MCP conformance suite, an independent test suite, against our server: a hosted one with its
 * own callback, on SQLite, with a vendor. The figures are exact, so that a suite that runs fewer
 * checks than before is noticed. docs/conformance.md explains them.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLIENT_ID, openHarness, type Harness } from "../../conformance/harness.ts";
import { expectScore, SCORES, scoreOf } from "../../conformance/scores.ts";
import { baselineOf, type Revision, runSuite } from "../../conformance/suite.ts";
import { freePort } from "../../support/free-port.ts";
import { hostedEnvironment, startMcpServer } from "../../support/mcp/process.ts";
import { startOpenIdVendor } from "../../support/mcp/vendor.ts";

const METADATA = "authorization-server-metadata-endpoint";
let harness: Harness;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "oauth-broker-conformance-baselines-"));
  harness = await openHarness();
});
afterAll(async () => {
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

// The body of every request is then read before the SDK reads it, and `initialize` answers
// Mcp-Session-Id, without which the suite warns.
it("the server meets both revisions just so with several vendors", async () => {
  const several = await openHarness({ vendors: "several" });
  for (const [revision, score, beyond] of SCORES) {
    const withSession = revision === "2025-11-25" ? { passed: score.passed + 3, warnings: 0 } : {};
    await expectScore(several.url, revision, { ...score, ...withSession }, beyond);
  }
  await several.close();
});

describe("the server", () => {
  it.each(SCORES)("meets %s but for its baseline", async (...score) => {
    await expectScore(harness.url, ...score);
  });

  it("fails with a baseline that leaves a failing scenario out", async () => {
    const args = [...scenarioArguments("resources-subscribe", "2025-11-25"), "--expected-failures"];
    const run = await runSuite(...args, baseline("empty", "server: []\n"));
    expect(run.exitCode).toBe(1);
    expect(run.output).toContain("Unexpected failures");
    expect((await runSuite(...args, baselineOf("2025-11-25"))).exitCode).toBe(0);
  });

  it("fails with a baseline that names a scenario that passes", async () => {
    const args = [...scenarioArguments("ping", "2025-11-25"), "--expected-failures"];
    const run = await runSuite(...args, baseline("stale", "server: [ping]\n"));
    expect(run.exitCode).toBe(1);
    expect(run.output).toContain("Stale baseline entries");
  });
});

describe("the authorization server", () => {
  it("passes metadata and code grant, with a user who consents", async () => {
    const client = ["--client-id", CLIENT_ID, "--resource", `${harness.url}/mcp`, "-p", String(await freePort())];
    const run = await runSuite("authorization", "--url", harness.url, ...client);
    console.log("MCP authorization server:", scoreOf(run));
    expect(run.exitCode, run.output).toBe(0);
    expect(scoreOf(run), run.output).toEqual({ scenarios: 2, passed: 3, failed: 0, warnings: 0 });
  });

  it("has metadata with the platform's callback too", async () => {
    const vendor = await startOpenIdVendor();
    const server = await startMcpServer({ ...(await hostedEnvironment()), ...vendor.env });
    const run = await runSuite("authorization", "--url", server.url, "--scenario", METADATA);
    await server.stop();
    await vendor.close();
    expect(run.exitCode, run.output).toBe(0);
    // The warning: there is one client, and the metadata document of another is refused.
    expect(scoreOf(run), run.output).toEqual({ scenarios: 1, passed: 1, failed: 0, warnings: 1 });
  });

  it("fails where the metadata names another issuer", async () => {
    const metadata = await (await fetch(`${harness.url}/.well-known/oauth-authorization-server`)).text();
    const other = createServer((_, answer) => answer.setHeader("content-type", "application/json").end(metadata));
    await new Promise<void>((resolve) => {
      other.listen(0, "127.0.0.1", resolve);
    });
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const run = await runSuite("authorization", "--url", url, "--scenario", METADATA);
    other.close();
    expect(run.exitCode).toBe(1);
    expect(run.output).toContain("Invalid issuer");
  });
});

function scenarioArguments(scenario: string, revision: Revision): string[] {
  return ["server", "--url", `${harness.url}/mcp`, "--scenario", scenario, "--spec-version", revision];
}

function baseline(name: string, text: string): string {
  const file = join(folder, `${name}.yml`);
  writeFileSync(file, text);
  return file;
}
