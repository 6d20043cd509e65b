import { describe, expect, it } from "vitest";
import { mapCallbackError, requireIssuer } from "./response.ts";

const ISSUER = "https://vendor.example/tenant";
const authorizationEndpoint = "https://vendor.example/authorize";
const KNOWN = { issuer: ISSUER, issExpected: true, authorizationEndpoint };

describe("requireIssuer", () => {
  it("rfc9207#2.4 accepts exactly the issuer, advertised or not", () => {
    expect(() => requireIssuer(KNOWN, ISSUER)).not.toThrow();
    expect(() => requireIssuer({ ...KNOWN, issExpected: false }, ISSUER)).not.toThrow();
  });

  it("bar#CB-16 V-45 refuses an answer without iss where one is due", () => {
    expect(() => requireIssuer(KNOWN, undefined)).toThrow(
      expect.objectContaining({ code: "invalid_request", extras: { reason: "missing_issuer" } }),
    );
    expect(() => requireIssuer({ ...KNOWN, issExpected: false }, undefined)).not.toThrow();
  });

  it.each([
    ["another", "https://honest.example/tenant"],
    ["empty", ""],
    ["with a slash more", `${ISSUER}/`],
    ["in another case", ISSUER.toUpperCase()],
    ["with the port spelled out", "https://vendor.example:443/tenant"],
    ["with an escape", "https://vendor.example/t%65nant"],
    ["with white space", ` ${ISSUER}`],
  ])("bar#CB-16 V-44 refuses an iss that is %s", (_title, iss) => {
    for (const issExpected of [true, false]) {
      expect(() => requireIssuer({ issuer: ISSUER, issExpected, authorizationEndpoint }, iss)).toThrow(
        expect.objectContaining({ code: "invalid_request", extras: { reason: "issuer_mismatch" } }),
      );
    }
  });

  it("rfc9207#2.4 takes an iss of the authorization endpoint's origin where no issuer is known, and no other", () => {
    const unknown = { issExpected: false, authorizationEndpoint };
    for (const iss of [undefined, "https://vendor.example", "https://vendor.example/tenant"]) {
      expect(() => requireIssuer(unknown, iss)).not.toThrow();
    }
    for (const iss of [
      "",
      "vendor.example",
      "https://honest.example",
      "http://vendor.example",
      "https://vendor.example:8443",
    ]) {
      expect(() => requireIssuer(unknown, iss)).toThrow(
        expect.objectContaining({ extras: { reason: "issuer_mismatch" } }),
      );
    }
  });

  it("does not repeat what it was sent", () => {
    expect(() => requireIssuer(KNOWN, "https://canary.example")).toThrow(
      expect.not.objectContaining({ description: expect.stringContaining("canary") }),
    );
  });
});

describe("mapCallbackError", () => {
  it.each(
    [
      "access_denied",
      "ACCESS_DENIED",
      "user_denied",
      "user_cancelled_login",
      "user_cancelled_authorize",
      "user_canceled",
      "UserCancel",
      "user-cancelled",
      "cancelled",
      "cancel",
      "consent_declined",
      "consent_required",
      "request_denied",
      "authorization_declined",
      "accessdenied",
      "AccessDenied",
      "user_abort",
      "user_aborted",
      "UserAborted",
      "aborted_by_user",
      "user_rejected",
      "user_rejected_request",
      "user_refused",
      "rejected_by_user",
      "rejected_by_end_user",
      "aborted_by_resource_owner",
      "user_deny",
      "deny",
      "refused_by_the_user",
      "consent_rejected",
      "consent_refused",
      "cancelation",
      "cancellation",
      "user cancellation",
      "usercancelled",
      "UserCanceledLogin",
      "user_declines",
      "user_decline",
      "userdenied",
      "login_canceled",
      "aborted",
    ].map((error) => [error]),
  )("%s is access_denied", (error) => {
    expect(mapCallbackError({ error })).toEqual({ code: "access_denied", vendorError: error });
  });

  it.each([
    ["temporarily_unavailable", "temporarily_unavailable"],
    ["invalid_scope", "invalid_scope"],
    ["invalid_client", "vendor_credentials_rejected"],
    ["unauthorized_client", "vendor_credentials_rejected"],
    ["server_error", "server_error"],
    ["invalid_request", "server_error"],
    ["login_required", "server_error"],
    ["scancelled", "server_error"],
    ["connection_aborted", "server_error"],
    ["transaction_aborted", "server_error"],
    ["request_rejected", "server_error"],
    ["connection_refused", "server_error"],
    ["redirect_uri_rejected", "server_error"],
    ["rejected", "server_error"],
    ["cancelable", "server_error"],
    ["declination", "server_error"],
    ["undenied", "server_error"],
    ["superuser_rejected", "server_error"],
    ["user_not_found", "server_error"],
    ["by_user", "server_error"],
    ["", "server_error"],
  ])("%s is %s", (error, code) => {
    expect(mapCallbackError({ error })).toEqual({ code, vendorError: error });
  });

  it("bar#CB-10 cuts the vendor's code", () => {
    const { vendorError } = mapCallbackError({ error: `a"b\\c\r\nd<script>é${"x".repeat(100_000)}` });
    expect(vendorError).toMatch(/^a b c {2}d<script> x+$/);
    expect(vendorError).toHaveLength(64);
  });
});
