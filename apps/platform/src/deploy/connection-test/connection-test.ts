/**
 * Tests whether a deployed server can be connected, with the requests of a platform's first user: a
 * call without a token, discovery, registration, the redirect to the vendor. All of them go through
 * the ingress. Each result is a sentence, and each fault has a remedy. Before it: deploy.ts started
 * the server. After it: the connector is activated or keeps its state.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import { clientCheck, settingsCheck } from "./client.ts";
import { requireAuthorization, requireClient } from "./authorization.ts";
import { requireChallenge, requireInitialize, requireTokenRefused } from "./bearer.ts";
import { type Check, type CheckName, isFault, type Subject } from "./check.ts";
import { discover } from "./discovery.ts";

export interface ConnectionTest {
  /** `client_missing`: everything works, but no OAuth client is entered. */
  readonly outcome: "passed" | "client_missing" | "failed";
  /** In the order they ran; the first failure is the last entry. */
  readonly checks: readonly Check[];
}

export interface TestDeps {
  readonly fetch: Fetch;
  /** Called as soon as each result is known. */
  readonly onCheck?: (check: Check) => void;
}

/** Does not throw: a failure is a result of the test. */
export async function testConnection(subject: Subject, { fetch, onCheck }: TestDeps): Promise<ConnectionTest> {
  const checks: Check[] = [];
  const check: Step = async (name, make) => {
    const report = (one: Check): void => {
      checks.push(one);
      onCheck?.(one);
    };
    try {
      const { said, value } = await make();
      report({ name, outcome: "passed", said });
      return value;
    } catch (error) {
      if (!isFault(error)) throw error;
      report({ name, outcome: error.outcome, said: error.message, remedy: error.remedy });
      throw error;
    }
  };
  try {
    await stepsOf(subject, fetch, check);
    return { outcome: "passed", checks };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { outcome: error.outcome, checks };
  }
}

type Step = <T>(
  name: CheckName,
  make: () => Promise<{ readonly said: string; readonly value?: T }>,
) => Promise<T | undefined>;

async function stepsOf(subject: Subject, fetch: Fetch, check: Step): Promise<void> {
  if (subject.mode === "none") {
    await check("initialize", () => requireInitialize(subject, fetch));
    await check("settings", async () => settingsCheck(subject));
    return;
  }
  const challenge = await check("challenge", () => requireChallenge(subject, fetch));
  await check("token", () => requireTokenRefused(subject, fetch));
  if (subject.mode === "pre-registered") {
    await check("client", async () => clientCheck(subject));
    return;
  }
  const metadata = await check("discovery", () => discover(subject, challenge ?? {}, fetch));
  await check("settings", async () => settingsCheck(subject));
  if (metadata === undefined) return;
  const client = await check("client", () => requireClient(subject, metadata, fetch));
  if (client !== undefined) await check("authorization", () => requireAuthorization(subject, metadata, client, fetch));
}
