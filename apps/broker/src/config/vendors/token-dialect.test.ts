/** The fields that say how a vendor's token endpoint departs from the standard. */
import { describe, expect, it } from "vitest";
import { load, MINIMAL, ownVendor, problemsOfOwnVendor as problemsOfOwn, registryOf } from "../testing/config-file.ts";

const registry = registryOf({
  id: "known",
  errorMember: "error.code",
  tokenErrors: { "7": "invalid_scope", "8": "invalid_scope" },
});

describe("a vendor's token dialect in the file", () => {
  it("is that of the registry's entries", () => {
    const busy = { prefix: "Rate limit", means: "temporarily_unavailable" };
    const invalid_request = [
      { status: 401, means: "vendor_credentials_rejected" },
      { member: "reason.kind", value: "revoked", means: "invalid_grant" },
    ];
    const entry = ownVendor({
      token_headers: { "X-Api-Version": "2026-11-01" },
      token_response_member: "data.0",
      error_member: "errors.0.code",
      token_errors: { "Token is dead": "invalid_grant", busy, invalid_request },
    });
    expect(entry?.vendor).toMatchObject({
      tokenHeaders: { "x-api-version": "2026-11-01" },
      tokenResponseMember: "data.0",
      errorMember: "errors.0.code",
      tokenErrors: { "Token is dead": [{ means: "invalid_grant" }], busy: [busy], invalid_request },
    });
  });

  it("stands beside the codes of a registry vendor", () => {
    const { vendors } = load(
      { ...MINIMAL, vendors: { known: { token_errors: { "8": "invalid_grant", "9": "invalid_grant" } } } },
      { registry },
    );
    expect(vendors.get("known")?.vendor).toMatchObject({
      errorMember: "error.code",
      tokenErrors: { "7": "invalid_scope", "8": [{ means: "invalid_grant" }], "9": [{ means: "invalid_grant" }] },
    });
    const untouched = load({ ...MINIMAL, vendors: { known: {} } }, { registry }).vendors.get("known");
    expect(untouched?.vendor.tokenErrors).toEqual({ "7": "invalid_scope", "8": "invalid_scope" });
  });

  const CODES =
    '"invalid_grant", "invalid_scope", "temporarily_unavailable", "vendor_credentials_rejected", "vendor_response_invalid"';

  it.each<[object, string]>([
    [{ token_errors: { dead: "server_error" } }, `….token_errors.dead must be one of ${CODES}`],
    [{ token_errors: { dead: 7 } }, "….token_errors.dead must be a mapping"],
    [{ token_errors: { dead: [] } }, "….token_errors.dead must have at least one entry"],
    [{ token_errors: { dead: {} } }, "….token_errors.dead.means is missing"],
    [{ token_errors: { dead: [{ means: "x" }] } }, `….token_errors.dead[0].means must be one of ${CODES}`],
    [
      { token_errors: { dead: [{ means: "invalid_grant", status: 99 }] } },
      "….token_errors.dead[0].status must be at least 200",
    ],
    [
      { token_errors: { dead: [{ means: "invalid_grant", begins: "x" }] } },
      "….token_errors.dead[0].begins is not a known field",
    ],
    [
      { token_errors: { dead: [{ means: "invalid_grant", member: "a..b" }] } },
      "….token_errors.dead[0].member must be the name of a member, or names with dots between them",
    ],
    [{ token_errors: "invalid_grant" }, "….token_errors must be a mapping"],
    [{ error_member: "error code" }, "….error_member must be the name of a member, or names with dots between them"],
    [{ token_response_member: "" }, "….token_response_member must not be empty"],
    [
      { token_headers: { Authorization: "Bearer x" } },
      "….token_headers.Authorization is a header only the broker sets",
    ],
    [{ token_headers: { "content-type": "x" } }, "….token_headers.content-type is a header only the broker sets"],
    [{ token_headers: { "x y": "x" } }, '….token_headers."x y" must be the name of a header'],
    [
      { token_headers: { x: "a\r\nb: c" } },
      "….token_headers.x must be printable ASCII, at most 1024 characters, without white space at its ends",
    ],
    [{ token_headers: { x: 7 } }, "….token_headers.x must be text: put it in quotes"],
  ])("%j is a problem at its own path", (fields, problem) => {
    expect(problemsOfOwn(fields)).toEqual([problem]);
  });
});
