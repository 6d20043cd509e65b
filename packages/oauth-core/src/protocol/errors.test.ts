import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { errorMembers, errorText, OAuthError, toOAuthError } from "./errors.ts";
import type { OAuthErrorCode } from "./errors.ts";
import { anyText } from "../testing/any-text.ts";

describe("OAuthError", () => {
  // The table of the HTTP contract, written out again so that a changed status shows up here.
  const STATUS: readonly [OAuthErrorCode, number][] = [
    ["invalid_request", 400],
    ["invalid_client", 401],
    ["invalid_grant", 400],
    ["unauthorized_client", 400],
    ["unsupported_grant_type", 400],
    ["invalid_scope", 400],
    ["access_denied", 400],
    ["server_error", 500],
    ["temporarily_unavailable", 503],
    ["unsupported_response_type", 400],
    ["invalid_redirect_uri", 400],
    ["invalid_client_metadata", 400],
    ["invalid_target", 400],
    ["request_not_supported", 400],
    ["request_uri_not_supported", 400],
    ["unsupported_token_type", 400],
    ["slow_down", 429],
    ["vendor_credentials_rejected", 400],
    ["vendor_response_invalid", 502],
    ["not_found", 404],
    ["method_not_allowed", 405],
  ];

  it.each(STATUS)("rfc6749#5.2 gives %s the status %i", (code, status) => {
    expect(new OAuthError(code, "Sentence").status).toBe(status);
  });

  const wireCode = (code: OAuthErrorCode): string | undefined =>
    errorMembers(new OAuthError(code, "Sentence"))["error"];

  it("rfc6749#4.1.2.1 uses the registered error codes of the authorization redirect", () => {
    const codes = ["access_denied", "unsupported_response_type", "server_error", "temporarily_unavailable"] as const;
    expect(codes.map(wireCode)).toEqual(codes);
  });

  it("rfc7591#3.2.2 uses the registered error codes of a client registration", () => {
    const codes = ["invalid_redirect_uri", "invalid_client_metadata"] as const;
    expect(codes.map(wireCode)).toEqual(codes);
  });

  it("rfc8707#2 uses the registered error code for an unknown resource", () => {
    expect(wireCode("invalid_target")).toBe("invalid_target");
  });

  it("oidc-core#3.1.2.6 uses the registered error codes for request objects", () => {
    const codes = ["request_not_supported", "request_uri_not_supported"] as const;
    expect(codes.map(wireCode)).toEqual(codes);
  });

  it("rfc7009#2.2.1 uses the registered error code for a token that cannot be revoked", () => {
    expect(wireCode("unsupported_token_type")).toBe("unsupported_token_type");
  });

  it("rfc8628#3.5 uses the registered error code for a client that polls too fast", () => {
    expect(wireCode("slow_down")).toBe("slow_down");
  });

  it("lets 413 and 415 replace the table's status", () => {
    expect(new OAuthError("invalid_request", "Too large", { status: 413 }).status).toBe(413);
  });

  it.each<[OAuthErrorCode, number | undefined]>([
    ["temporarily_unavailable", 5],
    ["slow_down", 5],
    ["invalid_request", undefined],
  ])("asks the caller of a %s to wait %s seconds unless the error says otherwise", (code, seconds) => {
    expect(new OAuthError(code, "Sentence").retryAfterSeconds).toBe(seconds);
    expect(new OAuthError(code, "Sentence", { retryAfterSeconds: 60 }).retryAfterSeconds).toBe(60);
  });

  it("keeps detail and cause for the log and out of the wire members", () => {
    const cause = new Error("inner");
    const error = new OAuthError("not_found", "No such vendor", { detail: "asked for x", cause });
    expect(error).toMatchObject({
      name: "OAuthError",
      message: "not_found: No such vendor",
      detail: "asked for x",
      cause,
    });
    expect(errorMembers(error)).toEqual({ error: "not_found", error_description: "No such vendor" });
  });
});

describe("toOAuthError", () => {
  it("passes an OAuthError through", () => {
    const error = new OAuthError("invalid_grant", "Used");
    expect(toOAuthError(error)).toBe(error);
  });

  it.each([new TypeError("secret inside"), "secret inside", { message: "secret inside" }, null])(
    "turns %s into server_error without its text",
    (thrown) => {
      const error = toOAuthError(thrown);
      expect(error).toMatchObject({ code: "server_error", status: 500, cause: thrown });
      expect(JSON.stringify([errorMembers(error), error.detail, error.message])).not.toContain("secret inside");
    },
  );
});

describe("errorMembers", () => {
  it("spells every extra as it is on the wire", () => {
    const error = new OAuthError("temporarily_unavailable", "Vendor is down", {
      reason: "vendor_timeout",
      retry: "restart",
      vendorError: "server_error",
      credentialsSource: "byoc",
      help: "Start again",
    });
    expect(errorMembers(error, "flow-1")).toEqual({
      error: "temporarily_unavailable",
      error_description: "Vendor is down",
      flow_id: "flow-1",
      reason: "vendor_timeout",
      retry: "restart",
      vendor_error: "server_error",
      credentials_source: "byoc",
      help: "Start again",
    });
  });

  it("rfc6749#5.2 cuts the vendor's own code to the allowed characters", () => {
    const error = new OAuthError("server_error", "Vendor refused", { vendorError: 'bad"\r\n<\\é>' });
    expect(errorMembers(error)["vendor_error"]).toBe("bad   <  >");
    const nothingLeft = new OAuthError("server_error", "Vendor refused", { vendorError: "é" });
    expect(errorMembers(nothingLeft)).not.toHaveProperty("vendor_error");
  });
});

describe("errorText", () => {
  it("rfc6749#5.2 leaves printable ASCII without quote and backslash, 512 characters", () => {
    fc.assert(
      fc.property(anyText(fc, { maxLength: 700 }), (text) => {
        expect(errorText(text)).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]{0,512}$/);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it("keeps a sentence as it is", () => {
    expect(errorText("The user declined.")).toBe("The user declined.");
  });
});
