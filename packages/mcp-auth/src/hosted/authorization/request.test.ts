/** Invalid requests at GET /authorize with either callback: which cause a page, and which a redirect. */
import { REFLECTED, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { redirectUriNearMisses } from "../../../../oauth-core/src/testing/corpora/redirect-uri-corpus.ts";
import {
  CALLBACK,
  form,
  type HostedFixture,
  openHostedFixture,
  PLATFORM_STATE,
  type RequestParameters,
  SERVER,
  UNASKED_VENDOR,
} from "../../testing/hosted-fixture.ts";
import { BACK, DESK, expectPage, location, openStubServerFixture, STATE } from "../../testing/server-fixture.ts";

type Opened = Pick<HostedFixture, "authorize" | "request" | "close">;

const ofPlatform = async (): Promise<Opened> => openHostedFixture({ vendor: UNASKED_VENDOR });
const ofServer = async (): Promise<Opened> => {
  const fixture = await openStubServerFixture();
  return { ...fixture, authorize: (parameters) => fixture.browser().authorize(parameters) };
};

describe.each([
  {
    whose: "the platform's callback",
    client_id: "platform",
    open: ofPlatform,
    back: CALLBACK,
    own: { state: PLATFORM_STATE },
  },
  {
    whose: "its own callback",
    client_id: DESK.clientId,
    open: ofServer,
    back: BACK,
    own: { state: STATE, iss: SERVER },
  },
])("a server with $whose", ({ client_id, open, back, own }) => {
  const opened = shared(open);

  it("bar#AS-1 shows a page and redirects nowhere for every redirect URI that is nearly registered", async () => {
    // authorization-server/redirect-uri.test.ts has them all.
    const misses = redirectUriNearMisses(back).filter(({ uri }, index) => uri !== "" && index % 5 === 0);
    expect(misses.length).toBeGreaterThan(40);
    for (const { uri, name } of misses) {
      // Also with a further error, which would otherwise be reported by redirect.
      for (const response_type of ["code", "token"]) {
        const answer = await opened.authorize({ redirect_uri: uri, response_type });
        expect([answer.status, answer.headers.get("location")], name).toEqual([400, null]);
      }
    }
  });

  it.each([
    ["an unknown client", { client_id: REFLECTED }],
    ["a client id in another spelling", { client_id: "Platform" }],
    ["a client that was never registered", { client_id: `dcr_${"A".repeat(22)}` }],
    ["a URL where no documents are taken", { client_id: "https://client.example/id" }],
    ["another client, with this one's redirect URI", { client_id: "other" }],
    ["another client's redirect URI", { redirect_uri: "https://other.example/back" }],
    ["no client", { client_id: undefined }],
    ["no redirect URI", { redirect_uri: undefined }],
    ["an empty redirect URI", { redirect_uri: "" }],
  ])("bar#AS-1 shows a page for %s, whatever else is wrong", async (_what, parameters) => {
    await expectPage(await opened.authorize(parameters));
    await expectPage(await opened.authorize({ ...parameters, response_type: "token", code_challenge: undefined }));
  });

  it.each(["client_id", "redirect_uri", "state", "code_challenge"])(
    "bar#AS-1 shows a page for %s given twice",
    async (name) => {
      const twice = form({ client_id, redirect_uri: back, state: "a", code_challenge: "x" });
      twice.append(name, "x");
      await expectPage(await opened.request(`/authorize?${twice.toString()}`));
    },
  );

  async function expectReported(parameters: RequestParameters, error: string): Promise<void> {
    const answer = await opened.authorize(parameters);
    expect([answer.status, location(answer).href.startsWith(`${back}?`)]).toEqual([303, true]);
    const { error_description: description, flow_id: _, ...rest } = Object.fromEntries(location(answer).searchParams);
    expect(rest).toEqual({ error, ...own });
    expect(description).toMatch(/^[\x20-\x7e]+$/);
    expect(location(answer).searchParams.getAll("iss")).toHaveLength("iss" in own ? 1 : 0);
  }

  it.each([
    ["no challenge", { code_challenge: undefined }],
    ["plain", { code_challenge_method: "plain" }],
    ["no method", { code_challenge_method: undefined }],
    ["an unknown method", { code_challenge_method: "S512" }],
    ["a verifier's length, 42", { code_challenge: "a".repeat(42) }],
  ])("bar#AS-2 bar#AS-18 rfc6749#4.1.2.1 reports to the client %s", (_what, parameters) =>
    expectReported(parameters, "invalid_request"),
  );

  it.each([
    ["a request object", { request: "e30.e30." }, "request_not_supported"],
    ["a request_uri", { request_uri: "https://evil.example/r" }, "request_uri_not_supported"],
    ["the implicit flow", { response_type: "token" }, "unsupported_response_type"],
    ["a hybrid flow", { response_type: "code id_token" }, "unsupported_response_type"],
    ["no response_type", { response_type: undefined }, "invalid_request"],
    ["response_mode=fragment", { response_mode: "fragment" }, "invalid_request"],
    ["response_mode=form_post", { response_mode: "form_post" }, "invalid_request"],
    ["response_mode=web_message", { response_mode: "web_message" }, "invalid_request"],
  ])("bar#AS-19 rfc6749#3.1.1 reports to the client %s", (_what, parameters, error) =>
    expectReported(parameters, error),
  );

  it.each([
    ["another server", "https://other.example/mcp"],
    ["a fragment", `${SERVER}/mcp#x`],
    ["a path beside ours", `${SERVER}/mcp/`],
    ["the server as a whole", SERVER],
  ])("bar#AS-16 rfc8707#2 reports to the client a resource that is %s", (_what, resource) =>
    expectReported({ resource }, "invalid_target"),
  );

  it.each([
    ["more than there is", "read admin"],
    ["none at all", 'read "'],
  ])("rfc6749#3.3 reports to the client a scope that is %s", (_what, scope) =>
    expectReported({ scope }, "invalid_scope"),
  );
});
