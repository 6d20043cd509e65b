/**
 * The attacker tries to make a user of the platform work with the attacker's account at a vendor
 * (login CSRF): the attacker starts a flow, keeps the callback's URL, and makes the victim's
 * browser request it. `requireState` stops this; the vendor here has neither PKCE nor ID tokens, so
 * that no other check does.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import * as session from "../session.ts";
import type { Tokens } from "../types.ts";
import { codeFor, directClient, VENDOR } from "../testing/direct-client.ts";

async function attack(): Promise<Tokens> {
  const client = directClient({
    vendor: { ...VENDOR, pkce: "none" },
    fetch: async () => Response.json({ access_token: "token of the attacker", token_type: "bearer" }),
  });
  const attacker = await client.start({});
  const victim = await client.start({});
  return client.finish(codeFor(attacker.session), victim.session);
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
