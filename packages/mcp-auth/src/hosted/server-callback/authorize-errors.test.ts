/** Invalid requests at GET /authorize: which cause a page, and which a redirect. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redirectUriNearMisses } from "../../../../oauth-core/src/testing/corpora/redirect-uri-corpus.ts";
import { SERVER } from "../../testing/hosted-fixture.ts";
import {
  BACK,
  expectPage,
  location,
  openStubServerFixture,
  OTHER,
  STATE,
  type StubServerFixture,
} from "../../testing/server-fixture.ts";

let fixture: StubServerFixture;
beforeAll(async () => {
  fixture = await openStubServerFixture();
});
afterAll(() => fixture.close());

const errorOf = (answer: Response) => Object.fromEntries(location(answer).searchParams);

describe("bar#AS-1 a page without a redirect", () => {
  it("for every redirect URI that is nearly registered", async () => {
    const browser = fixture.browser();
    // authorization-server/redirect-uri.test.ts has them all.
    const misses = redirectUriNearMisses(BACK).filter((_, index) => index % 5 === 0);
    expect(misses.length).toBeGreaterThan(40);
    for (const { uri, name } of misses) {
      // Also with a further error, which would otherwise be reported by redirect.
      for (const response_type of ["code", "token"]) {
        const answer = await browser.authorize({ redirect_uri: uri, response_type });
        expect([answer.status, answer.headers.get("location")], name).toEqual([400, null]);
      }
    }
  });

  it.each(["http://127.0.0.1:65535/cb", "http://[::1]:8080/cb", "http://localhost:5001/cb"])(
    "rfc8252#7.3 but a program on the computer may have any port: %s",
    async (redirect_uri) => {
      const { fields, html } = await fixture.browser().ask({ client_id: "native", redirect_uri });
      expect(fields["redirect_uri"]).toBe(redirect_uri);
      expect(html).toContain("The answer goes to a program on this computer.");
    },
  );

  it.each(["http://localhost.evil.example:80/cb", "http://127.0.0.1:80@evil.example/cb", "http://[::2]:7777/cb"])(
    "rfc8252#8.3 and nothing but the port: %s",
    async (redirect_uri) => {
      await expectPage(await fixture.browser().authorize({ client_id: "native", redirect_uri }));
    },
  );

  it.each([
    ["no client", { client_id: undefined }],
    ["an unknown client", { client_id: "desk2" }],
    ["a client that was never registered", { client_id: `dcr_${"A".repeat(22)}` }],
    ["a URL where no documents are taken", { client_id: "https://client.example/id" }],
    ["no redirect URI", { redirect_uri: undefined }],
    ["another client's redirect URI", { redirect_uri: OTHER.redirectUris[0] }],
    ["another client", { client_id: "other" }],
  ])("for %s", async (_what, parameters) => {
    await expectPage(await fixture.browser().authorize(parameters));
  });

  it("for a parameter that is there twice", async () => {
    const query = "client_id=desk&client_id=desk";
    await expectPage(await fixture.browser().get(`/authorize?${query}`));
  });
});

describe("errors of a known client are reported to it, with state and iss", () => {
  it.each([
    ["bar#AS-2 no challenge", { code_challenge: undefined }, "invalid_request"],
    ["bar#AS-2 plain", { code_challenge_method: "plain" }, "invalid_request"],
    ["bar#AS-2 no method", { code_challenge_method: undefined }, "invalid_request"],
    ["bar#AS-2 an unknown method", { code_challenge_method: "S512" }, "invalid_request"],
    ["bar#AS-2 a verifier's length, 42", { code_challenge: "a".repeat(42) }, "invalid_request"],
    ["bar#AS-16 another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
    ["bar#AS-16 a fragment", { resource: `${SERVER}/mcp#x` }, "invalid_target"],
    ["bar#AS-16 a wider resource", { resource: SERVER }, "invalid_target"],
    ["bar#AS-19 a request object", { request: "e30.e30." }, "request_not_supported"],
    ["bar#AS-19 a request_uri", { request_uri: "https://evil.example/r" }, "request_uri_not_supported"],
    ["bar#AS-19 the implicit flow", { response_type: "token" }, "unsupported_response_type"],
    ["bar#AS-19 a hybrid flow", { response_type: "code id_token" }, "unsupported_response_type"],
    ["bar#AS-19 fragment", { response_mode: "fragment" }, "invalid_request"],
    ["bar#AS-19 form_post", { response_mode: "form_post" }, "invalid_request"],
    ["bar#AS-19 web_message", { response_mode: "web_message" }, "invalid_request"],
    ["no response_type", { response_type: undefined }, "invalid_request"],
    ["rfc6749#3.3 more scope than there is", { scope: "read admin" }, "invalid_scope"],
    ["rfc6749#3.3 an invalid scope", { scope: 'a"b' }, "invalid_scope"],
  ])("bar#AS-18 %s", async (_what, parameters, error) => {
    const answer = await fixture.browser().authorize(parameters);
    expect([answer.status, location(answer).href.startsWith(`${BACK}?`)]).toEqual([303, true]);
    expect(errorOf(answer)).toMatchObject({ error, state: STATE, iss: SERVER });
    expect(location(answer).searchParams.getAll("iss")).toHaveLength(1);
  });

  it("the resource there is, and response_mode=query, are fine", async () => {
    const { fields } = await fixture.browser().ask({ resource: `${SERVER}/mcp`, response_mode: "query" });
    expect(fields).toMatchObject({ resource: `${SERVER}/mcp`, response_mode: "query" });
  });
});
