/**
 * A thief of a backend's tokens refreshes while their user disconnects. The vendor has answered the
 * refresh already, so only the client can keep the new tokens from its caller.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it, vi } from "vitest";
import { directClient, VENDOR } from "../testing/direct-client.ts";
import * as revocations from "./revocations.ts";

const FRESH = { access_token: "fresh", token_type: "bearer", refresh_token: "successor" };
const OK = { outcome: "ok", tokens: { accessToken: "fresh" } };

/** @param first the request that the vendor answers before the other */
async function disconnectDuringRefresh(first: "refresh" | "revoke", status = 200) {
  const asked: unknown[] = [];
  const answers = { refresh: Promise.withResolvers<void>(), revoke: Promise.withResolvers<void>() };
  const client = directClient({
    vendor: { ...VENDOR, revocationEndpoint: "https://vendor.example/revoke" },
    fetch: async (url, init) => {
      const form = await new Request(url, init ?? {}).formData();
      asked.push(form.get("token") ?? "refresh");
      await answers[form.has("token") ? "revoke" : "refresh"].promise;
      return form.has("token") ? new Response(null, { status }) : Response.json(FRESH);
    },
  });
  const refresh = client.refresh({ refreshToken: "rt" });
  const revoke = client.revoke({ token: "rt" }).catch(() => undefined);
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  answers[first].resolve();
  await new Promise(setImmediate);
  for (const answer of Object.values(answers)) answer.resolve();
  return { refreshed: await refresh, revoked: await revoke, ended: asked.slice(2) };
}

describe("bar#RV-4 a token that is revoked during its refresh", () => {
  it.each(["refresh", "revoke"] as const)("gives no one new tokens, the %s answered first", async (first) => {
    const { refreshed, ended } = await disconnectDuringRefresh(first);
    expect(refreshed).toMatchObject({ outcome: "reauthorize", reason: "invalid_grant" });
    expect(ended).toEqual(["successor"]);
  });

  it("is refreshed as ever when the vendor did not revoke it", async () => {
    expect(await disconnectDuringRefresh("refresh", 503)).toMatchObject({ refreshed: OK, ended: [] });
  });

  it("twin: without the check the thief has tokens that outlive the disconnect", async () => {
    weaken(revocations, () => ({ createRevocations: () => ({ add: () => {}, has: async () => false }) }));
    expect(await disconnectDuringRefresh("revoke")).toMatchObject({ refreshed: OK, ended: [] });
  });
});
