/** The twins of attacks.test.ts: with a binding off, what Alice's client got serves in other calls. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import type * as States from "./request-state.ts";
import type * as Sessions from "./url-elicitation.ts";

beforeEach(() => {
  vi.resetModules();
});

/** An endpoint whose values are bound to nothing but the key. */
async function openUnbound() {
  vi.doMock("./request-state.ts", async (original) => {
    const actual = await original<typeof States>();
    const createRequestStates = (deps: Parameters<typeof actual.createRequestStates>[0]) =>
      actual.createRequestStates(deps, () => ["request-state"]);
    return { ...actual, createRequestStates };
  });
  vi.doMock("./url-elicitation.ts", async (original) => {
    const actual = await original<typeof Sessions>();
    const createMcpSessions = (deps: Parameters<typeof actual.createMcpSessions>[0]) =>
      actual.createMcpSessions(deps, () => ["mcp-session"]);
    return { ...actual, createMcpSessions };
  });
  const { createMcpEndpoint } = await import("../endpoint.ts");
  return import("../../testing/replayed-state.ts").then(async (module) => ({
    ...module,
    ...(await module.openReplayedState(createMcpEndpoint)),
  }));
}

describe("with the binding off", () => {
  it("a requestState serves another user, client, tool and other arguments", async () => {
    const { calls, present, REPLAYS } = await openUnbound();
    for (const [what, replay] of Object.entries(REPLAYS)) {
      const { body } = await present(replay);
      expect([what, body.result?.content[0].text]).toEqual([what, expect.stringContaining("ran for")]);
    }
    await calls.close();
  });

  it("a Mcp-Session-Id serves another user and client", async () => {
    const { calls, presentSession } = await openUnbound();
    for (const bearer of ["alice.other", "bob.desk"]) expect(await presentSession(calls, bearer)).toBe(true);
    await calls.close();
  });
});
