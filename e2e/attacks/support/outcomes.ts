/** What every refusal must look like, and how a twin switches a defence off. */
import type { createFlows as CreateFlows } from "@oauth-broker/broker/src/flows/policy.ts";
import { expect } from "vitest";
import { letTwinOff } from "./every-answer.ts";
import type { Exchange } from "./names.ts";

/**
 * A browser is refused: a small page, no redirect, nothing cached, nothing of the request on it.
 *
 * @param notOnPage texts of the request that must not come back
 */
export function expectRefusalPage(
  answer: Exchange | undefined,
  reason: string,
  notOnPage: readonly string[] = [],
): void {
  expect(answer?.status).toBe(400);
  expect(answer?.headers.get("location")).toBeNull();
  expect(answer?.headers.get("content-type")).toMatch(/^text\/html/);
  expect(answer?.headers.get("cache-control")).toBe("no-store");
  expect(answer?.body).toContain(`<code>${reason}</code>`);
  for (const text of notOnPage) if (text.length > 3) expect(answer?.body).not.toContain(text);
}

/** The switches of one test file: which defences its mocks have off at the moment. */
export type Off = Set<string>;

/** Runs the twin: the same attack with exactly one defence replaced. */
export async function without<T>(off: Off, defence: string, attack: () => Promise<T>): Promise<T> {
  off.add(defence);
  letTwinOff();
  try {
    return await attack();
  } finally {
    off.delete(defence);
  }
}

/**
 * The broker's flows without the check of the path: an answer is accepted for its flow on any path.
 *
 * @param isOff whether the check is off at the moment
 */
export function onAnyPath(createFlows: typeof CreateFlows, isOff: () => boolean): typeof CreateFlows {
  return (deps) => {
    const flows = createFlows(deps);
    const callback: typeof flows.callback = async (request, trace) => {
      if (!isOff()) return flows.callback(request, trace);
      const { jti } = await deps.state.verify(request.parameters.require("state"));
      const record = await deps.records.get({ kind: "flow", id: jti });
      const path = record?.data["path"];
      return flows.callback({ ...request, path: typeof path === "string" ? path : request.path }, trace);
    };
    return { ...flows, callback };
  };
}
