import { OAuthError } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { requireCaller } from "./bearer.ts";

const present = (thrown: Error, { scope = "" } = {}) =>
  requireCaller("Bearer token", "127.0.0.1", {
    authenticate: async () => Promise.reject(thrown),
    resourceMetadata: undefined,
    scope,
  });

describe("a bearer token that cannot be checked", () => {
  it.each(["vendor_credentials_rejected", "vendor_response_invalid", "invalid_scope", "invalid_grant"] as const)(
    "is no fault of the caller: 503, with %s as its reason",
    async (code) => {
      const cause = new OAuthError(code, "The vendor said so", { vendorError: "their_word" });
      await expect(present(cause)).rejects.toMatchObject({
        code: "temporarily_unavailable",
        status: 503,
        retryAfterSeconds: 5,
        extras: { reason: code, vendorError: "their_word" },
        cause,
      });
    },
  );

  it("rfc6750#3.1 is insufficient_scope where the vendor says so, and an outage by any other 403", async () => {
    const forbidden = { reason: "account_forbidden" };
    const narrow = new OAuthError("vendor_response_invalid", "Narrow", {
      ...forbidden,
      vendorError: "insufficient_scope",
    });
    const found = await present(narrow, { scope: "read:user" });
    if (!("challenge" in found)) throw new Error("a caller");
    expect(found.challenge.status).toBe(403);
    expect(found.challenge.headers["www-authenticate"]).toMatch(
      /^Bearer error="insufficient_scope", error_description="[^"]+", scope="read:user"$/,
    );
    const other = new OAuthError("vendor_response_invalid", "Forbidden", forbidden);
    await expect(present(other)).rejects.toMatchObject({ status: 503, retryAfterSeconds: 5, extras: forbidden });
  });

  it("keeps the reason that an error has", async () => {
    const cause = new OAuthError("vendor_response_invalid", "Wrong", { reason: "issuer_mismatch" });
    await expect(present(cause)).rejects.toMatchObject({ status: 503, extras: { reason: "issuer_mismatch" } });
  });

  it.each([
    new OAuthError("temporarily_unavailable", "Down", { retryAfterSeconds: 30 }),
    new OAuthError("slow_down", "Too many"),
    new OAuthError("server_error", "A bug"),
    new TypeError("a bug"),
  ])("is answered as it is: %s", async (error) => {
    await expect(present(error)).rejects.toBe(error);
  });
});
