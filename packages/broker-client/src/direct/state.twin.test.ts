/**
 * The attacker tries to make a user of the platform work with the attacker's account at a vendor
 * (login CSRF): the attacker starts a flow, keeps the callback's URL, and makes the victim's
 * browser request it. `requireState` stops this; the vendor here has neither PKCE nor ID tokens, so
 * that no other check does.
 */
import { fixedClock, weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import * as session from "../session.ts";
import type { Tokens } from "../types.ts";
import { defineVendor, direct } from "./index.ts";

const REDIRECT_URI = "https://platform.example/oauth/callback";

async function attack(): Promise<Tokens> {
  const client = direct({
    vendor: defineVendor({
      id: "plain",
      name: "Plain",
      authorizationEndpoint: "https://vendor.example/authorize",
      tokenEndpoint: "https://vendor.example/token",
      pkce: "none",
    }),
    credentials: { clientId: "deployment", clientSecret: "secret" },
    redirectUri: REDIRECT_URI,
    fetch: async () => Response.json({ access_token: "token of the attacker", token_type: "bearer" }),
    now: fixedClock(1_700_000_000),
  });
  const attacker = await client.start({});
  const victim = await client.start({});
  const callback = new URL(REDIRECT_URI);
  callback.search = new URLSearchParams({ code: "code of the attacker", state: attacker.session.state }).toString();
  return client.finish(callback, victim.session);
}

describe("an attacker's callback in the victim's browser", () => {
  it("rfc9700#4.7.1 is refused", async () => {
    await expect(attack()).rejects.toMatchObject({ code: "invalid_session", details: { reason: "state_mismatch" } });
  });

  it("twin: without requireState the victim works with the attacker's account", async () => {
    weaken(session, () => ({ requireState: () => {} }));
    expect(await attack()).toMatchObject({ accessToken: "token of the attacker" });
  });
});
