/**
 * Whether a deployed server can be connected, asked as a platform's first user would: a call
 * without a token, discovery, registration, the way to the vendor. All of it through the ingress.
 * Each answer is a sentence, each fault comes with what mends it. Before it: deploy.ts started the
 * server. After it: the connector is activated, or stays what it is.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import { clientCheck, settingsCheck } from "./client.ts";
import { requireAuthorization, requireClient } from "./authorization.ts";
import { requireChallenge, requireInitialize, requireTokenRefused } from "./bearer.ts";
import { type Check, type CheckName, isFault, type Subject } from "./check.ts";
import { discover } from "./discovery.ts";

export interface ConnectionTest {
  /** `client_missing`: all is well, but no OAuth client is entered. */
  readonly outcome: "passed" | "client_missing" | "failed";
  /** In the order they were made; the first that fails is the last. */
  readonly checks: readonly Check[];
}

export interface TestDeps {
  readonly fetch: Fetch;
  /** Told as each is known. */
  readonly onCheck?: (check: Check) => void;
}

/** Does not throw: what goes wrong is the test's answer. */
export async function testConnection(subject: Subject, { fetch, onCheck }: TestDeps): Promise<ConnectionTest> {
  const checks: Check[] = [];
  const check = async <T>(name: CheckName, make: () => Promise<{ readonly said: string; readonly value?: T }>) => {
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
