/** The twins of attacks.test.ts and vendors-apart.test.ts: with a defence off, the attack succeeds. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type * as VendorApi from "../tools/vendor-api.ts";
import type * as FindLinks from "./find-links.ts";
import type * as States from "./request-state.ts";
import type * as Sessions from "./url-elicitation.ts";

beforeEach(() => {
  vi.resetModules();
});
afterEach(() => {
  for (const path of ["./request-state.ts", "./url-elicitation.ts", "./find-links.ts", "../tools/vendor-api.ts"]) {
    vi.doUnmock(path);
  }
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
  return import("../../testing/linking/replayed-state.ts").then(async (module) => ({
    ...module,
    ...(await module.openReplayedState(createMcpEndpoint)),
  }));
}

describe("with the binding off", () => {
  it("a requestState serves another user, client, tool and other arguments (twin of bar#LK-4)", async () => {
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

it("with one list of hosts a tool sends a token to another vendor (twin of bar#LK-10)", async () => {
  vi.doMock("../tools/vendor-api.ts", async (original) => {
    const actual = await original<typeof VendorApi>();
    const createVendorApi: typeof actual.createVendorApi = (caller, signal, deps) =>
      actual.createVendorApi(caller, signal, { ...deps, apiHosts: ["api.github.example", "api.slack.example"] });
    return { ...actual, createVendorApi };
  });
  const { createMcpEndpoint } = await import("../endpoint.ts");
  const { openFetching } = await import("../../testing/linking/replayed-state.ts");
  const { calls, run } = await openFetching(createMcpEndpoint);
  expect(await run("alice.desk", "slack", "https://api.github.example/x")).toContain("slack-token-of-alice");
  await calls.close();
});

it("if the vendor may name scopes, a narrow session's link widens (twin of bar#LK-8)", async () => {
  vi.doMock("./find-links.ts", async (original) => {
    const actual = await original<typeof FindLinks>();
    const findLacking: typeof actual.findLacking = (error, named, links, deps) =>
      actual.findLacking(error, named, links, deps, () => error.scopes);
    return { ...actual, findLacking };
  });
  const { createMcpEndpoint } = await import("../endpoint.ts");
  const { askedBeyond } = await import("../../testing/linking/replayed-state.ts");
  expect(await askedBeyond(createMcpEndpoint)).toContain("users:read");
});
