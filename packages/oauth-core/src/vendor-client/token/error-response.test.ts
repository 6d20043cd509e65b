/** What vendors say instead of tokens, and what it means: the status, the words and their places. */
import { describe, expect, it } from "vitest";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { resolvedVendor } from "../../testing/network/resolved-vendor.ts";
import type { Vendor } from "../../registry/vendor.ts";
import { readTokenAnswer } from "./response.ts";

const REFRESH = { what: "refresh", spends: false, isRefresh: true } as const;
const CODE = { what: "code redemption", spends: true, spendsOnRefusal: true } as const;

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function read(
  body: string | object,
  { status = 400, type = "application/json", headers = {} }: Answer = {},
  { fields = {}, call = REFRESH }: { fields?: Partial<Vendor>; call?: typeof REFRESH | typeof CODE } = {},
): Promise<unknown> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = new Response(text, { status, headers: { "content-type": type, ...headers } });
  const vendor = resolvedVendor(fields);
  return readTokenAnswer(response, vendor, { ...call, errors: vendor.tokenErrors }, { now: fixedClock(1_700_000_000) });
}

const DEAD = { code: "invalid_grant", status: 400 };
const OUTAGE = { code: "temporarily_unavailable", status: 503 };
const INVALID = { code: "vendor_response_invalid", status: 502 };
const WAITING = { "retry-after": "30" };

describe("a dead grant at a refresh", () => {
  it.each<[string, string | object, Answer?]>([
    ["invalid_grant", { error: "invalid_grant" }],
    ["in capitals", { error: "INVALID_GRANT" }],
    ["in capitals, in a 200", { error: "Invalid_Grant" }, { status: 200 }],
    ["in words", { error: " Invalid grant " }],
    ["in camel case", { error: "invalidGrant" }],
    ["with a hyphen", { error: "invalid-token" }],
    ["invalid_token", { error: "invalid_token" }],
    ["invalid_token with 401", { error: "invalid_token" }, { status: 401 }],
    [
      "invalid_token in a challenge alone",
      "",
      { status: 401, headers: { "www-authenticate": 'Bearer realm="x" error="invalid_token"' } },
    ],
    ["invalid_grant with 403", { error: "invalid_grant" }, { status: 403 }],
    ["invalid_grant with 500", { error: "invalid_grant" }, { status: 500 }],
    ["invalid_token with 503", { error: "Invalid_Token" }, { status: 503 }],
    ["interaction_required", { error: "interaction_required" }],
    ["login_required", { error: "login_required" }],
    ["consent_required", { error: "consent_required" }],
    ["account_selection_required", { error: "account_selection_required" }],
    ["an object with a code", { error: { code: "invalid_grant", message: "no" } }],
    ["an object whose code is a number", { error: { code: 400, error: "invalid_grant", message: "no" } }],
    ["an object with a type", { error: { type: "invalid_grant" } }],
    ["a list", { errors: [{ errorType: "invalid_grant", message: "no" }], success: false }],
    ["the second of a list", { errors: [{ errorType: "system" }, { code: "expired_token" }] }],
    ["a status in a member", { status: "BAD_REFRESH_TOKEN", message: "no" }],
    ["as a page", '{"error":"invalid_grant"}', { type: "text/html" }],
    ["with a line break in the description", '{"error":"invalid_grant","error_description":"a\r\nb"}'],
    ["with a line break, in a 200", '{"error":"invalid_grant","error_description":"a\nb"}', { status: 200 }],
    ["in a form", "error=invalid_grant&error_description=no", { type: "text/plain" }],
    ["beside ok false", { ok: false, error: "code_already_used" }, { status: 200 }],
  ])("bar#RF-9 is said so: %s", async (_title, body, answer = {}) => {
    await expect(read(body, answer)).rejects.toMatchObject(DEAD);
  });

  it.each<[string, string | object, Answer]>([
    ["with 429", { error: "invalid_grant" }, { status: 429 }],
    ["beside Retry-After", { error: "invalid_grant" }, { status: 400, headers: WAITING }],
    ["as invalid_token beside Retry-After", { error: "invalid_token" }, { status: 401, headers: WAITING }],
    ["in a 5xx beside Retry-After", { error: "invalid_grant" }, { status: 503, headers: WAITING }],
    ["in a 200 beside Retry-After", { error: "invalid_grant" }, { status: 200, headers: WAITING }],
    ["in words of other vendors, in a 5xx", { error: "token_expired" }, { status: 500 }],
    ["in a page of the vendor's", "<html>invalid_grant</html>", { status: 500, type: "text/html" }],
  ])("bar#RF-9 is not believed %s", async (_title, body, answer) => {
    await expect(read(body, answer)).rejects.toMatchObject(OUTAGE);
  });

  it("has more words than a dead code", async () => {
    for (const error of ["invalid_token", "login_required", "interaction_required"]) {
      await expect(read({ error }, {}, { call: CODE })).rejects.toMatchObject(INVALID);
    }
    await expect(read({ error: "INVALID_GRANT" }, {}, { call: CODE })).rejects.toMatchObject(DEAD);
    await expect(read({ error: "invalid_grant" }, { status: 500 }, { call: CODE })).rejects.toMatchObject({
      ...OUTAGE,
      extras: { retry: "restart" },
    });
  });
});

describe("an outage", () => {
  it.each<[string, string | object, Answer]>([
    ["409", { error: "conflict" }, { status: 409 }],
    ["423", "", { status: 423 }],
    ["408", "<html>", { status: 408, type: "text/html" }],
    ["425", "", { status: 425 }],
    ["the 403 page of a network in front of the vendor", "<!DOCTYPE html>", { status: 403, type: "text/html" }],
    ["a 403 with Retry-After", "no", { status: 403, headers: WAITING }],
    ["a 400 with Retry-After", { error: "busy" }, { status: 400, headers: WAITING }],
    ["a rate limit in the usual words", { error: "rate_limit_exceeded" }, { status: 400 }],
    ["a rate limit in capitals", { error: "TOO_MANY_REQUESTS" }, { status: 400 }],
  ])("is also %s, and nothing was spent", async (_title, body, answer) => {
    await expect(read(body, answer)).rejects.toMatchObject({
      ...OUTAGE,
      extras: expect.not.objectContaining({ retry: "restart" }),
    });
    await expect(read(body, answer, { call: CODE })).rejects.toMatchObject({ ...OUTAGE, extras: { retry: "restart" } });
  });

  it.each([409, 423, 403])("is not %i with a word that is known", async (status) => {
    await expect(read({ error: "invalid_client" }, { status })).rejects.toMatchObject({
      code: "vendor_credentials_rejected",
    });
    await expect(read({ error: "access_denied" }, { status: 403 })).rejects.toMatchObject(INVALID);
  });

  it("lasts as long as the vendor says, and says whose word that is", async () => {
    const body = { error: "slow_down" };
    const said = { retryAfterSeconds: 3600, extras: { reason: "vendor" } };
    await expect(read(body, { headers: { "retry-after": "3600" } })).rejects.toMatchObject({ ...OUTAGE, ...said });
    await expect(read(body)).rejects.toMatchObject({
      retryAfterSeconds: 5,
      extras: expect.not.objectContaining({ reason: "vendor" }),
    });
  });
});

describe("the entry's token_errors", () => {
  const fields: Partial<Vendor> = {
    tokenErrors: {
      invalid_request: [{ prefix: "Value passed for the token", means: "invalid_grant" }],
      access_denied: [
        { status: 401, means: "vendor_credentials_rejected" },
        { member: "reason.kind", value: "limit", means: "temporarily_unavailable" },
      ],
      gone: [{ means: { code: "invalid_grant", reason: "ask_admin", description: "Ask an administrator" } }],
    },
  };

  it.each<[string, object, Answer, object]>([
    [
      "by how a member begins",
      { error: "invalid_request", error_description: "Value passed for the token was invalid." },
      {},
      DEAD,
    ],
    [
      "whatever the status",
      { error: "invalid_request", error_description: "Value passed for the token was invalid." },
      { status: 500 },
      DEAD,
    ],
    ["by the value of a member", { error: "access_denied", reason: { kind: "limit" } }, {}, OUTAGE],
    ["by the status", { error: "access_denied" }, { status: 401 }, { code: "vendor_credentials_rejected" }],
    [
      "without a condition",
      { error: "gone" },
      {},
      { ...DEAD, extras: { reason: "ask_admin" }, description: "Ask an administrator" },
    ],
    [
      "not where the member begins otherwise",
      { error: "invalid_request", error_description: "Missing parameter" },
      {},
      INVALID,
    ],
    ["not where the member is missing", { error: "invalid_request" }, {}, INVALID],
    ["not where it is no text", { error: "invalid_request", error_description: {} }, {}, INVALID],
    ["not where the value is longer", { error: "access_denied", reason: { kind: "limits" } }, {}, INVALID],
    ["not beside 429", { error: "gone" }, { status: 429 }, OUTAGE],
    ["not beside Retry-After", { error: "gone" }, { headers: WAITING }, OUTAGE],
  ])("hold %s", async (_title, body, answer, expected) => {
    await expect(read(body, answer, { fields })).rejects.toMatchObject(expected);
  });
});
