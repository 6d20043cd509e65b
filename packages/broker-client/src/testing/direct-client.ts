/** A vendor that a test describes, and a client there whose answers the test scripts. */
import { defineVendor, type ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { vi } from "vitest";
import { direct, type DirectClient, type DirectOptions } from "../direct/index.ts";
import { REDIRECT_URI } from "./fake-broker.ts";

const ENDPOINTS = {
  authorizationEndpoint: "https://vendor.example/authorize",
  tokenEndpoint: "https://vendor.example/token",
};

export const VENDOR = defineVendor({ id: "own", name: "Own", ...ENDPOINTS });
/** The same, as it is when its endpoints are known. */
export const RESOLVED: ResolvedVendor = { ...VENDOR, ...ENDPOINTS, issExpected: false };
export const CREDENTIALS = { clientId: "deployment", clientSecret: "secret" };

export const directClient = (options: Partial<DirectOptions>): DirectClient =>
  direct({
    vendor: VENDOR,
    credentials: CREDENTIALS,
    redirectUri: REDIRECT_URI,
    now: fixedClock(1_700_000_000),
    ...options,
  });

/** The URL that the vendor sends the browser to, with its code. */
export function codeFor({ state }: { readonly state: string }): URL {
  const callback = new URL(REDIRECT_URI);
  callback.search = new URLSearchParams({ code: "code", state }).toString();
  return callback;
}

const FRESH = { access_token: "fresh", token_type: "bearer", refresh_token: "successor" };
export const REFRESHED = { outcome: "ok", tokens: { accessToken: "fresh" } };

/** @param first the request that the vendor answers before the other */
export async function disconnectDuringRefresh(first: "refresh" | "revoke", status = 200) {
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
  await vi.waitFor(() => asked.length === 2 || Promise.reject(new Error(`${asked.length} of 2 requests`)));
  answers[first].resolve();
  await new Promise(setImmediate);
  for (const answer of Object.values(answers)) answer.resolve();
  return { refreshed: await refresh, revoked: await revoke, ended: asked.slice(2) };
}
