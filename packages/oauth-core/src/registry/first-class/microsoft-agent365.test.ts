import { describe, expect, it } from "vitest";
import { mapCallbackError } from "../../vendor-client/authorization/error.ts";
import { microsoftAgent365 } from "./microsoft-agent365.ts";

const { vendor } = microsoftAgent365;
const ADMIN = { code: "server_error", vendorError: "AADSTS90094", reason: "admin_consent_required" };

describe("an AADSTS number", () => {
  it.each<[string, Record<string, string>]>([
    ["the text", { error_description: "AADSTS90094: The grant requires admin permission. Trace ID: 1" }],
    ["the text, after something", { error_description: "[\r\nAADSTS90094: The grant" }],
    ["the page", { error_uri: "https://login.microsoftonline.com/error?code=90094" }],
    ["a list of one", { error_codes: "90094" }],
  ])("is read on the callback from %s, whatever error says", (_title, parameters) => {
    expect(mapCallbackError({ error: "access_denied", ...parameters }, vendor)).toMatchObject(ADMIN);
    expect(mapCallbackError({ error: "consent_required", ...parameters }, vendor)).toMatchObject(ADMIN);
  });

  it.each<[Record<string, string>]>([
    [{}],
    [{ error_subcode: "cancel", error_description: "AADSTS65004: User declined to consent to access the app." }],
    [{ error_description: "the user canceled the authentication" }],
    [{ error_description: "AADSTS900940: unknown here" }],
    [{ error_description: "AADSTS" }],
    [{ error_codes: "__proto__" }],
  ])("that says no more than error leaves a cancel a cancel: %j", (parameters) => {
    expect(mapCallbackError({ error: "access_denied", ...parameters }, vendor)).toEqual({
      code: "access_denied",
      vendorError: "access_denied",
    });
  });

  it.each([
    [{ error: "invalid_grant", suberror: "basic_action", error_codes: [50_076] }, "interaction_required"],
    [{ error: "invalid_grant", error_description: "AADSTS50079: enroll" }, "interaction_required"],
    [{ error: "invalid_grant", suberror: "consent_required" }, "consent_required"],
    [{ error: "invalid_request", error_codes: [65_001] }, "consent_required"],
    [{ error: "invalid_grant", suberror: "bad_token", error_codes: [50_173] }, undefined],
    [{ error: "temporarily_unavailable" }, undefined],
  ])("is read in a token answer: %j is %s", (members, code) => {
    expect(vendor.classifyError?.(members)).toBe(code);
    if (code !== undefined) expect(vendor.tokenErrors[code]).toBe("invalid_grant");
  });
});
