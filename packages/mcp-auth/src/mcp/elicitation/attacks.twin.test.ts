/** The twins of attacks.test.ts and vendors-apart.test.ts: with a defence off, the attack succeeds. */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import {
  askedBeyond,
  openFetching,
  openReplayedState,
  presentSession,
  REPLAYS,
} from "../../testing/linking/replayed-state.ts";
import * as api from "../tools/vendor-api.ts";
import * as lacking from "./find-links.ts";
import * as states from "./request-state.ts";
import * as urls from "./url-elicitation.ts";

/** An endpoint whose values are bound to nothing but the key. */
function openUnbound() {
  weaken(states, () => ({ bindingsOf: () => ["request-state"] }));
  weaken(urls, () => ({ bindingsOf: () => ["mcp-session"] }));
  return openReplayedState();
}

describe("with the binding off", () => {
  it("a requestState serves another user, client, tool and other arguments (twin of bar#LK-4)", async () => {
    const { calls, present } = await openUnbound();
    for (const [what, replay] of Object.entries(REPLAYS)) {
      const { body } = await present(replay);
      expect([what, body.result?.content[0].text]).toEqual([what, expect.stringContaining("ran for")]);
    }
    await calls.close();
  });

  it("a Mcp-Session-Id serves another user and client", async () => {
    const { calls } = await openUnbound();
    for (const bearer of ["alice.other", "bob.desk"]) expect(await presentSession(calls, bearer)).toBe(true);
    await calls.close();
  });
});

it("with one list of hosts a tool sends a token to another vendor (twin of bar#LK-10)", async () => {
  weaken(api, ({ createVendorApi }) => ({
    createVendorApi: (caller, signal, deps) =>
      createVendorApi(caller, signal, { ...deps, apiHosts: ["api.github.example", "api.slack.example"] }),
  }));
  const { calls, run } = await openFetching();
  expect(await run("alice.desk", "slack", "https://api.github.example/x")).toContain("slack-token-of-alice");
  await calls.close();
});

it("if the vendor may name scopes, a narrow session's link widens (twin of bar#LK-8)", async () => {
  weaken(lacking, ({ askableAt }) => ({ askableAt: (...args) => [...askableAt(...args), "users:read"] }));
  expect(await askedBeyond()).toContain("users:read");
});
