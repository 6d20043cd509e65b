/**
 * The audit stream of a broker process over flows, a kill and restarts, read by
 * `broker audit verify`. Files that someone has changed: audit/verify.test.ts.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runOn } from "@oauth-broker/broker/src/testing/operator-command.ts";
import { describe, expect, it } from "vitest";
import { type BrokerProcess, startBrokerProcess, temporaryFolder } from "../../support/broker/process.ts";
import { startParties } from "../../support/broker/harness.ts";
import { BROKER_BUNDLE } from "../../support/paths.ts";
import { readTokens } from "../../support/broker/platform.ts";
import { findSecrets, plantedCount } from "../../support/secrets.ts";
import { shared } from "@oauth-broker/oauth-core/testing";
import { plantVendorSecrets } from "../../support/broker/vendor.ts";

type Line = Readonly<Record<string, string | number>>;

const folder = temporaryFolder();
const path = join(folder, "audit.jsonl");
const parties = shared(() => startParties());

const startBroker = (audit: string): Promise<BrokerProcess> =>
  startBrokerProcess({ yaml: parties.yaml({ more: `audit: ${audit}` }), folder, entry: "short-waits" });
const readLines = (text: string): Line[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
const headsIn = (log: string): string[] =>
  readLines(log).flatMap(({ event, hash }) => (event === "audit_head" ? [String(hash)] : []));

async function flowRefreshRevoke(): Promise<void> {
  const { platform } = parties;
  const tokens = await platform.connect();
  const refreshed = await platform.refresh(tokens);
  expect(refreshed.status, refreshed.text).toBe(200);
  const revoked = await platform.revoke(readTokens(refreshed).refreshToken, tokens);
  expect(revoked.status, revoked.text).toBe(200);
}

const TO_THE_CODE = ["client_authenticated", "flow_started", "consent_given", "client_authenticated"];

describe("the audit stream of a broker", () => {
  let text: string;

  it("bar#OB-1 has on record, at kill -9, every answer: flows, refresh, revocation, refusals", async () => {
    const broker = await startBroker("file:./audit.jsonl");
    await flowRefreshRevoke();
    await parties.platform.par({ vendor: "unknown" });
    const flow = await parties.platform.toPlatform();
    await parties.platform.redeem({ ...flow, codeVerifier: "A".repeat(43) });
    broker.signal("SIGKILL");
    await broker.exited();
    plantVendorSecrets(parties.vendor);
    text = readFileSync(path, "utf8");
    expect(plantedCount()).toBeGreaterThan(20);
    expect(findSecrets(text)).toEqual([]);
    const events = readLines(text).map(({ event, outcome }) => (outcome === "ok" ? event : `${event} ${outcome}`));
    expect(events).toEqual([
      "configuration_loaded",
      ...TO_THE_CODE,
      "tokens_issued",
      "client_authenticated",
      "tokens_refreshed",
      "client_authenticated",
      "revoked",
      "client_authenticated",
      "refused invalid_request",
      ...TO_THE_CODE,
      "refused invalid_grant",
    ]);
  });

  it("goes on at the next start, which names the last line and leaves its head in the log", async () => {
    const broker = await startBroker("file:./audit.jsonl");
    await parties.platform.push();
    await broker.stop();
    const before = text;
    text = readFileSync(path, "utf8");
    expect(text.startsWith(before)).toBe(true);
    const heads = headsIn(broker.stdout());
    expect(heads).toHaveLength(1);
    const verify = { name: "audit-verify", file: path, heads } as const;
    const { code, stdout } = await runOn(() => expect.unreachable("reads no configuration"), verify);
    expect({ code, chains: stdout.match(/^chain /gm)?.length }).toEqual({ code: 0, chains: 2 });
  });
});

it("audit: stdout stands among the lines of the log, and is verified there", async () => {
  const broker = await startBroker("stdout");
  await parties.platform.push();
  await broker.stop();
  const args = ["audit", "verify", "-", ...headsIn(broker.stdout()).flatMap((head) => ["--head", head])];
  const options = { input: broker.stdout(), encoding: "utf8" } as const;
  const { status, stdout } = spawnSync(process.execPath, [BROKER_BUNDLE, ...args], options);
  expect(stdout).toMatch(/^ok: 3 lines, and \d+ not of the stream$/m);
  expect(status).toBe(0);
});
