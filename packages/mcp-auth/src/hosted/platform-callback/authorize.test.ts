import { deriveCodeChallenge } from "@oauth-broker/oauth-core/protocol";
import { defineVendor } from "@oauth-broker/oauth-core/registry";
import { REFLECTED } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redirectUriNearMisses } from "../../../../oauth-core/src/testing/corpora/redirect-uri-corpus.ts";
import {
  CALLBACK,
  form,
  type HostedFixture,
  openHostedFixture,
  SCOPES,
  SERVER,
  VERIFIER,
} from "../../testing/hosted-fixture.ts";

const vendor = defineVendor({
  id: "example",
  name: "Example",
  authorizationEndpoint: "https://vendor.example/authorize",
  tokenEndpoint: "https://vendor.example/token",
  authorizationParams: { access_type: "offline" },
});
const STATE = "state of the platform &=+%/é";
let fixture: HostedFixture;
beforeAll(() => {
  fixture = openHostedFixture({ vendor });
});
afterAll(() => fixture.close());

const location = (answer: Response): URL => new URL(answer.headers.get("location") ?? "");
async function expectPage(answer: Response): Promise<void> {
  expect(answer.status).toBe(400);
  expect(answer.headers.get("location")).toBeNull();
  expect(answer.headers.get("content-type")).toContain("text/html");
}

describe("bar#AS-1 an unverified client or redirect URI gets a page and no redirect", () => {
  it("for every near miss of the platform's callback", async () => {
    // authorization-server/redirect-uri.test.ts has them all.
    const misses = redirectUriNearMisses(CALLBACK).filter(({ uri }, index) => uri !== "" && index % 5 === 0);
    for (const { name, uri } of misses) {
      const answer = await fixture.authorize({ redirect_uri: uri });
      expect([name, answer.status, answer.headers.get("location")]).toEqual([name, 400, null]);
    }
    expect(misses.length).toBeGreaterThan(40);
  });

  it.each([
    ["an unknown client", { client_id: REFLECTED }],
    ["a client id in another spelling", { client_id: "Platform" }],
    ["no client", { client_id: undefined }],
    ["no redirect URI", { redirect_uri: undefined }],
    ["an empty redirect URI", { redirect_uri: "" }],
  ])("for %s, whatever else is wrong", async (_what, parameters) => {
    await expectPage(await fixture.authorize({ ...parameters, response_type: "token", code_challenge: undefined }));
  });

  it.each(["client_id=platform", "redirect_uri=https%3A%2F%2Fevil.example", "state=b", "code_challenge=x"])(
    "for a parameter given twice: %s",
    async (more) => {
      const once = form({ client_id: "platform", redirect_uri: CALLBACK, state: "a", code_challenge: "x" });
      await expectPage(await fixture.request(`/authorize?${once.toString()}&${more}`));
    },
  );
});

describe("what is refused after that goes to the platform, with its state and without iss:", () => {
  async function expectReportedToPlatform(
    parameters: Record<string, string | undefined>,
    error: string,
  ): Promise<void> {
    const answer = await fixture.authorize(parameters);
    expect(answer.status).toBe(303);
    const back = location(answer);
    expect(back.origin + back.pathname).toBe(CALLBACK);
    const { error_description: description, ...rest } = Object.fromEntries(back.searchParams);
    expect(rest).toEqual({ error, state: STATE });
    expect(description).toMatch(/^[\x20-\x7e]+$/);
  }

  it.each([
    ["no code_challenge", { code_challenge: undefined }],
    ["plain", { code_challenge_method: "plain" }],
    ["no method", { code_challenge_method: undefined }],
    ["an unknown method", { code_challenge_method: "S512" }],
    ["a short challenge", { code_challenge: "short" }],
  ])("bar#AS-2 rfc6749#4.1.2.1 %s", (_what, parameters) => expectReportedToPlatform(parameters, "invalid_request"));

  it.each([
    ["a request object", { request: "e30.e30." }, "request_not_supported"],
    ["a request_uri", { request_uri: "urn:x" }, "request_uri_not_supported"],
    ["response_type=token", { response_type: "token" }, "unsupported_response_type"],
    ["response_type=code token", { response_type: "code token" }, "unsupported_response_type"],
    ["no response_type", { response_type: undefined }, "invalid_request"],
    ["response_mode=fragment", { response_mode: "fragment" }, "invalid_request"],
    ["response_mode=form_post", { response_mode: "form_post" }, "invalid_request"],
    ["response_mode=web_message", { response_mode: "web_message" }, "invalid_request"],
  ])("bar#AS-19 rfc6749#3.1.1 %s", (_what, parameters, error) => expectReportedToPlatform(parameters, error));

  it.each([
    ["another server", "https://other.example/mcp"],
    ["a fragment", `${SERVER}/mcp#x`],
    ["a path beside ours", `${SERVER}/mcp/`],
    ["the server as a whole", SERVER],
  ])("bar#AS-16 rfc8707#2 a resource that is %s", (_what, resource) =>
    expectReportedToPlatform({ resource }, "invalid_target"),
  );

  it.each([
    ["more than there is", "api:read admin"],
    ["none at all", 'api:read "'],
  ])("rfc6749#3.3 a scope that is %s", (_what, scope) => expectReportedToPlatform({ scope }, "invalid_scope"));

  it("an outage", async () => {
    await using cold = openHostedFixture({ vendor });
    cold.down.add("records");
    expect(location(await cold.authorize()).searchParams.get("error")).toBe("temporarily_unavailable");
  });
});

describe("the redirect to the vendor", () => {
  it("has the platform's redirect URI and state, our client, and our challenge", async () => {
    const ignored = { prompt: "none", login_hint: "victim", allow_signup: "false", nonce: "mine", redirect_url: "x" };
    const answer = await fixture.authorize({ ...ignored, resource: `${SERVER}/mcp`, scope: undefined });
    expect(answer.status).toBe(303);
    const url = location(answer);
    const { code_challenge: challenge, ...sent } = Object.fromEntries(url.searchParams);
    expect(url.origin + url.pathname).toBe("https://vendor.example/authorize");
    expect(sent).toEqual({
      access_type: "offline",
      response_type: "code",
      client_id: "our-client",
      redirect_uri: CALLBACK,
      scope: SCOPES.join(" "),
      state: STATE,
      code_challenge_method: "S256",
    });
    expect(challenge).toMatch(/^[\w-]{43}$/);
    expect(challenge).not.toBe(deriveCodeChallenge(VERIFIER));
  });

  it("bar#VR-1 has the same challenge in every process, and another for another flow", async () => {
    const challenge = async (parameters = {}): Promise<string | null> =>
      location(await fixture.authorize(parameters)).searchParams.get("code_challenge");
    expect(await challenge()).toBe(await challenge());
    expect(await challenge({ code_challenge: deriveCodeChallenge("v".repeat(43)) })).not.toBe(await challenge());
    await using elsewhere = openHostedFixture({ vendor });
    expect(location(await elsewhere.authorize()).searchParams.get("code_challenge")).not.toBe(await challenge());
  });

  it("requests the scope the platform requests", async () => {
    expect(location(await fixture.authorize({ scope: "api:read" })).searchParams.get("scope")).toBe("api:read");
  });

  it("is not followed by a link preview, nor by a form", async () => {
    for (const method of ["HEAD", "POST"]) {
      const { status, headers } = await fixture.request("/authorize", { method });
      expect([status, headers.get("allow")]).toEqual([405, "GET"]);
    }
  });
});
