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

/**
 * Does not throw: a failure is a result of the test.
 *
 * @param deps.onCheck called as soon as each result is known
 */
export async function testConnection(
  subject: Subject,
  { fetch, onCheck }: { readonly fetch: Fetch; readonly onCheck: (check: Check) => void },
): Promise<ConnectionTest> {
  const checks: Check[] = [];
  let running: CheckName = "challenge";
  const report = (found: Omit<Check, "name">): void => {
    const check = { name: running, ...found };
    checks.push(check);
    onCheck(check);
  };
  try {
    await stepsOf(subject, fetch, async (name, make) => {
      running = name;
      const passed = await make();
      report({ outcome: "passed", said: passed.said });
      return passed;
    });
    return { outcome: "passed", checks };
  } catch (error) {
    if (!isFault(error)) throw error;
    const { outcome, message: said, remedy } = error;
    report({ outcome, said, remedy });
    return { outcome, checks };
  }
}

type Step = <Passed extends { readonly said: string }>(
  name: CheckName,
  make: () => Passed | Promise<Passed>,
) => Promise<Passed>;

async function stepsOf(subject: Subject, fetch: Fetch, check: Step): Promise<void> {
  if (subject.mode === "none") {
    await check("initialize", () => requireInitialize(subject, fetch));
    await check("settings", () => settingsCheck(subject));
    return;
  }
  const { value: described } = await check("challenge", () => requireChallenge(subject, fetch));
  await check("token", () => requireTokenRefused(subject, fetch));
  if (subject.mode === "pre-registered") {
    await check("client", () => clientCheck(subject));
    return;
  }
  const { value: metadata } = await check("discovery", () => discover(subject, described, fetch));
  await check("settings", () => settingsCheck(subject));
  const { value: client } = await check("client", () => requireClient(subject, metadata, fetch));
  await check("authorization", () => requireAuthorization(subject, metadata, client, fetch));
}
