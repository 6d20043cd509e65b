import { describe, expect, it } from "vitest";
import { mapCallbackError } from "./error.ts";
import { words } from "../../testing/corpora/words.ts";

describe("mapCallbackError", () => {
  it.each(
    [
      ...words(`access_denied ACCESS_DENIED user_denied user_cancelled_login user_cancelled_authorize user_canceled
        UserCancel user-cancelled user.cancelled cancelled cancel consent_declined consent_required request_denied
        authorization_declined accessdenied AccessDenied user_abort user_aborted UserAborted aborted_by_user
        user_rejected user_rejected_request user_refused rejected_by_user rejected_by_end_user
        aborted_by_resource_owner user_deny deny refused_by_the_user consent_rejected consent_refused cancelation
        cancellation usercancelled UserCanceledLogin user_declines user_decline userdenied login_canceled aborted`),
      "user cancellation",
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
    ["application_suspended", "server_error"],
    ["uncancelled_thing", "server_error"],
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
