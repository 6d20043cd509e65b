/** Metadata that cannot be met is refused at /v1/par, and /v1/explain says so; later legs go on. */
import { describe, expect, it } from "vitest";
import { issueTokens, testBroker } from "../testing/test-broker.ts";

const ISSUER = "https://acme.example";

async function brokerAt(changes: () => object) {
  return testBroker({
    vendor: { issuer: ISSUER, issRequired: undefined } as object,
    vendorAnswers: async (input) => {
      if (!String(input).includes("/.well-known/")) return issueTokens(input);
      return Response.json({
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        ...changes(),
      });
    },
  });
}

describe("bar#DI-1 a vendor whose metadata demands what the broker does not do", () => {
  it.each([
    ["pushed_requests_required", { require_pushed_authorization_requests: true }, "read"],
    ["signed_requests_required", { require_signed_request_object: true }, "read"],
    ["keys_not_published", {}, "openid"],
  ])("is a 502 with the reason %s at /v1/par and /v1/explain", async (reason, metadata, scope) => {
    const { push, post, seen } = await brokerAt(() => metadata);
    for (const { response, body } of [await push({ scope }), await post("/v1/explain", { vendor: "acme", scope })]) {
      expect({ status: response.status, body }).toMatchObject({
        status: 502,
        body: { error: "vendor_response_invalid", reason, error_description: expect.stringContaining("metadata") },
      });
    }
    expect(seen.filter(({ url }) => !url.includes("/.well-known/"))).toEqual([]);
  });

  it("is still refreshed", async () => {
    let metadata = {};
    const { connect, refresh, now } = await brokerAt(() => metadata);
    const { connection } = await connect();
    metadata = { require_pushed_authorization_requests: true };
    now.advance(3600);
    expect((await refresh({ connection })).response.status).toBe(200);
  });

  it("is asked for form_post where it has only that, as explain shows", async () => {
    const { start, post } = await brokerAt(() => ({ response_modes_supported: ["form_post"] }));
    expect((await start()).location?.searchParams.get("response_mode")).toBe("form_post");
    const { body } = await post("/v1/explain", { vendor: "acme" });
    expect(body["authorization_parameters"]).toMatchObject({ response_mode: { value: "form_post", source: "vendor" } });
  });
});
