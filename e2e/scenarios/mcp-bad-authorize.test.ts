/**
 * Requests to a hosted server's /authorize that no well-behaved client makes, and where each ends:
 * a page, or the platform's callback.
 */
import { expectPage, REFLECTED } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { useHostedHarness, VERIFIER } from "../support/mcp-hosted-harness.ts";
import { PLATFORM_CALLBACK } from "../support/mcp-process.ts";
import { challengeOf, type Form } from "../support/platform.ts";

const harness = useHostedHarness();

describe("GET /authorize", () => {
  it.each<[string, Form]>([
    ["an unknown client", { client_id: REFLECTED }],
    ["no client", { client_id: undefined }],
    ["another path", { redirect_uri: `${PLATFORM_CALLBACK}/x` }],
    ["a trailing slash", { redirect_uri: `${PLATFORM_CALLBACK}/` }],
    ["a query", { redirect_uri: `${PLATFORM_CALLBACK}?x=1` }],
    ["a fragment", { redirect_uri: `${PLATFORM_CALLBACK}#x` }],
    ["other letters", { redirect_uri: PLATFORM_CALLBACK.replace("oauth", "OAuth") }],
    ["another scheme", { redirect_uri: PLATFORM_CALLBACK.replace("https", "http") }],
    ["user information", { redirect_uri: PLATFORM_CALLBACK.replace("//", "//platform.example@") }],
    ["a port", { redirect_uri: PLATFORM_CALLBACK.replace(".example", ".example:443") }],
    ["dots", { redirect_uri: PLATFORM_CALLBACK.replace("/oauth", "/oauth/../oauth") }],
    ["an encoded letter", { redirect_uri: PLATFORM_CALLBACK.replace("callback", "c%61llback") }],
    ["a space", { redirect_uri: `${PLATFORM_CALLBACK} ` }],
    ["a script", { redirect_uri: "javascript:alert(1)" }],
    ["none", { redirect_uri: undefined }],
  ])("bar#AS-1 with %s for client or redirect URI is a page, and no redirect", async (_, members) => {
    expectPage(await harness().authorize(members), 400);
  });

  it.each<[string, Form, string?]>([
    ["bar#AS-2 no challenge: invalid_request", { code_challenge: undefined }],
    ["bar#AS-2 plain: invalid_request", { code_challenge_method: "plain" }],
    ["bar#AS-2 no method, which means plain: invalid_request", { code_challenge_method: undefined }],
    ["bar#AS-2 an unknown method: invalid_request", { code_challenge_method: "S512" }],
    ["bar#AS-2 a short challenge: invalid_request", { code_challenge: "abc" }],
    ["bar#AS-16 another resource: invalid_target", { resource: "https://other.example/mcp" }],
    ["bar#AS-16 a resource with a fragment: invalid_target", { resource: "RESOURCE#x" }],
    ["bar#AS-19 a token asked for: unsupported_response_type", { response_type: "token" }],
    ["bar#AS-19 code and token asked for: unsupported_response_type", { response_type: "code token" }],
    ["bar#AS-19 a request object: request_not_supported", { request: "eyJhbGciOiJub25lIn0.e30." }],
    ["bar#AS-19 a request_uri: request_uri_not_supported", { request_uri: "https://evil.example/r" }],
    ["bar#AS-19 response_mode fragment: invalid_request", { response_mode: "fragment" }],
    ["bar#AS-19 response_mode form_post: invalid_request", { response_mode: "form_post" }],
    ["a scope that was not configured: invalid_scope", { scope: "read:user delete_repo" }],
    ["a malformed scope: invalid_scope", { scope: 'read:user "quoted"' }],
  ])("%s", async (title, members) => {
    const resource = members["resource"]?.replace("RESOURCE", harness().server.mcp);
    const answer = await harness().authorize({ ...members, ...(resource === undefined ? {} : { resource }) });
    expect(answer.status, answer.text).toBe(303);
    const location = new URL(answer.headers.get("location") ?? "");
    expect(location.origin + location.pathname).toBe(PLATFORM_CALLBACK);
    expect(location.searchParams.get("error")).toBe(title.split(": ").at(-1));
    expect(location.searchParams.get("state")).toBe("a state");
    expect(location.searchParams.has("code")).toBe(false);
  });

  it.each([
    "&client_id=platform",
    "&redirect_uri=https%3A%2F%2Fevil.example",
    "&state=b",
    "&code_challenge=x",
    "&resource=x&resource=y",
  ])("a parameter twice (%s) is a page, and no redirect", async (more) => {
    expectPage(await harness().authorize({}, more), 400);
  });

  it("sends the vendor only its own parameters", async () => {
    const answer = await harness().authorize({
      prompt: "none",
      login_hint: "victim",
      allow_signup: "false",
      nonce: "mine",
      redirect_url: "x",
    });
    const location = new URL(answer.headers.get("location") ?? "");
    expect([...location.searchParams.keys()].toSorted()).toEqual(
      [
        "client_id",
        "code_challenge",
        "code_challenge_method",
        "redirect_uri",
        "response_type",
        "scope",
        "state",
      ].toSorted(),
    );
    expect(location.searchParams.get("code_challenge")).not.toBe(challengeOf(VERIFIER));
  });
});
