/**
 * `broker flow ID` shows an operator what happened to one flow, and nothing that would allow a
 * replay. What the broker prints, stores and answers: leaks.attack.test.ts.
 */
import { parseCommand } from "@oauth-broker/broker/src/cli/command-line.ts";
import { loadConfig } from "@oauth-broker/broker/src/config.ts";
import { type OperatorCommand, type Printed, runOn } from "@oauth-broker/broker/src/testing/operator-command.ts";
import { describe, expect, it } from "vitest";
import { runBrokerCommand } from "../../support/broker/process.ts";
import { startParties } from "../../support/broker/harness.ts";
import { startInProcessBroker } from "../../support/broker/in-process.ts";
import { browse, random } from "../../support/broker/platform.ts";
import { findSecrets } from "../../support/secrets.ts";
import { shared } from "@oauth-broker/oauth-core/testing";
import { plantVendorSecrets } from "../../support/broker/vendor.ts";

const parties = shared(() => startParties());
const serving = shared(() => startInProcessBroker(parties.yaml({ store: "sqlite:./data/broker.sqlite" })));

interface Timeline {
  readonly flowId: string;
  readonly stage: string;
  readonly legs: readonly { readonly leg: string; readonly checks: readonly string[]; readonly reason?: string }[];
}

/** In this process, too. */
async function runHere(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Printed> {
  return runOn(() => loadConfig(env, serving.folder), (parseCommand(args) as { command: OperatorCommand }).command);
}

async function timelineOf(flowId: string): Promise<Timeline> {
  const { code, stdout } = await runHere(["flow", flowId, "--json"]);
  expect(code).toBe(0);
  expect(findSecrets(stdout)).toEqual([]);
  return JSON.parse(stdout) as Timeline;
}

describe("broker flow ID", () => {
  it("shows every leg of a successful flow, with the checks it passed", async () => {
    const { flow } = await parties.platform.connect({ form: { login_hint: "someone.personal@acme.example" } });
    plantVendorSecrets(parties.vendor);
    const { code, stdout, stderr } = await runBrokerCommand(["flow", flow.flowId], serving.folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(flow.flowId);
    expect(stdout).toContain("client       platform");
    expect(stdout).toContain("vendor       op");
    for (const check of ["PKCE #1 is S256", "request_uri used once", "same browser by cookie", "PKCE #1 verifier"]) {
      expect(stdout).toContain(check);
    }
    expect(stdout).not.toContain("someone.personal");
    expect(findSecrets(stdout)).toEqual([]);
    const { stage, legs } = await timelineOf(flow.flowId);
    expect(stage).toBe("spent");
    expect(legs.map(({ leg }) => leg)).toEqual(["pushed", "started", "parked", "spent"]);
    expect(legs.every(({ checks }) => checks.length > 0)).toBe(true);
  });

  it("bar#OB-1 shows where a flow ended, and why", async () => {
    const expectEnd = async (flowId: string, reason: string): Promise<void> =>
      expect((await timelineOf(flowId)).legs.at(-1)).toMatchObject({ leg: "failed", reason });
    const cancelled = await parties.platform.toCallback({ decision: "cancel" });
    await browse(cancelled.callback, cancelled.jar);
    await expectEnd(cancelled.flowId, "callback: access_denied");

    const mixedUp = await parties.platform.toCallback();
    mixedUp.callback.searchParams.set("iss", "https://attacker.example");
    await browse(mixedUp.callback, mixedUp.jar);
    await expectEnd(mixedUp.flowId, "callback: issuer_mismatch");

    const stolen = await parties.platform.toPlatform();
    await parties.platform.redeem(stolen, { code_verifier: random("wrong verifier") });
    await expectEnd(stolen.flowId, "token: wrong code_verifier");

    const refused = await parties.platform.toPlatform();
    parties.vendor.faults.next("/token", { kind: "answer", status: 400, body: '{"error":"invalid_grant"}' });
    await parties.platform.redeem(refused);
    await expectEnd(refused.flowId, "token: invalid_grant");

    const waiting = await parties.platform.push();
    expect(await timelineOf(waiting.flowId)).toMatchObject({ stage: "pushed", legs: [{ leg: "pushed" }] });
  });

  it("says that an id is malformed, and that a memory store cannot be read from outside", async () => {
    const odd = await runHere(["flow", "../../etc/passwd"]);
    expect(odd).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("not a flow id") });
    const elsewhere = await runHere(["flow", "AAAAAAAAAAAAAAAAAAAAAA"], { STORE: "memory:" });
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining("memory store") });
  });
});
