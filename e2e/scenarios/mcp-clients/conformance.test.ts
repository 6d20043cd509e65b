/**
 * The MCP conformance suite, an independent test suite, against our server: a hosted one with its
 * own callback, on SQLite, with several vendors; with one it is part of an app
 * (../delivery/mcp-in-apps.test.ts). The figures are exact, so that a suite that runs fewer checks
 * than before is noticed. docs/conformance.md explains them.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { shared, volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { CLIENT_ID, openHarness } from "../../conformance/harness.ts";
import { expectScore, SCORES, scoreOf } from "../../conformance/scores.ts";
import { runSuite } from "../../conformance/suite.ts";
import { freePort } from "../../support/free-port.ts";
import { serveTemplate } from "../../support/mcp/in-process.ts";
import { hostedEnvironment } from "../../support/mcp/process.ts";
import { startOpenIdVendor } from "../../support/mcp/vendor.ts";
import { temporaryFolder } from "../../support/service-process.ts";

const harness = shared(() => openHarness({ vendors: "several" }));

describe("the server", () => {
  // The body of every request is read before the SDK reads it, and `initialize` answers
  // Mcp-Session-Id, without which the suite warns.
  it.each(volume({ test: SCORES.slice(0, 1), soak: SCORES }))(
    "meets %s but for its baseline, with several vendors",
    async (revision, score, beyond) => {
      const withSession = revision === "2025-11-25" ? { passed: score.passed + 3, warnings: 0 } : {};
      await expectScore(harness.url, revision, { ...score, ...withSession }, beyond);
    },
  );

  it("fails with a baseline that lacks a failing check and names a passing one", async () => {
    const file = join(temporaryFolder(), "baseline.yml");
    writeFileSync(file, "server: [resources-subscribe:wire-schema-valid]\n");
    const of = ["--url", `${harness.url}/mcp`, "--scenario", "resources-subscribe", "--spec-version", "2025-11-25"];
    const run = await runSuite("server", ...of, "--expected-failures", file);
    expect(run.exitCode).toBe(1);
    expect(run.output).toContain("Unexpected failures");
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
    const server = await serveTemplate({ ...(await hostedEnvironment()), ...vendor.env });
    const metadata = "authorization-server-metadata-endpoint";
    const run = await runSuite("authorization", "--url", server.url, "--scenario", metadata);
    await server.stop();
    await vendor.close();
    expect(run.exitCode, run.output).toBe(0);
    // The warning: there is one client, and the metadata document of another is refused.
    expect(scoreOf(run), run.output).toEqual({ scenarios: 1, passed: 1, failed: 0, warnings: 1 });
  });
});
