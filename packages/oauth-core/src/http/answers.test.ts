import { describe, expect, it } from "vitest";
import { OAuthError } from "../protocol/errors.ts";
import { verifyRedirectUri } from "../authorization-server/redirect-uri.ts";
import {
  bearerChallenge,
  codeRedirect,
  errorAnswer,
  errorRedirect,
  foreignAnswer,
  formPageAnswer,
  jsonAnswer,
  jwtAnswer,
  pageAnswer,
  redirectAnswer,
} from "./answers.ts";

const URI = "https://platform.example/cb?tab=1";
const to = { redirect: verifyRedirectUri(URI, [URI]), state: "s&t", issuer: "https://broker.example", flowId: "f" };
const parameters = (location: string | undefined) => Object.fromEntries(new URL(location ?? "").searchParams);

describe("answers", () => {
  it("rfc6749#5.1 forbids caching and content sniffing", () => {
    for (const answer of [
      jsonAnswer(200, {}),
      jwtAnswer(200, "a.b.c.d.e"),
      pageAnswer(200, "", "'none'"),
      redirectAnswer("https://vendor.example"),
    ]) {
      expect(answer.headers).toMatchObject({
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
      });
    }
  });

  it("rfc7519#10.3.1 names a JWT as one", () => {
    const answer = jwtAnswer(200, "a.b.c.d.e");
    expect([answer.headers["content-type"], answer.body]).toEqual(["application/jwt", "a.b.c.d.e"]);
  });

  it("rfc9700#4.12 redirects with 303 and nothing else", () => {
    expect(redirectAnswer("https://vendor.example").status).toBe(303);
    expect(codeRedirect("c", to, {}).status).toBe(303);
    expect(errorRedirect(new OAuthError("access_denied", "no"), to, {}).status).toBe(303);
  });

  it("rfc6749#4.1.2 rfc9207#2 returns code, state and iss, and keeps the client's own query", () => {
    expect(parameters(codeRedirect("c", to, {}).headers["location"])).toEqual({
      tab: "1",
      code: "c",
      state: "s&t",
      iss: "https://broker.example",
      flow_id: "f",
    });
  });

  it("rfc6749#4.1.2.1 rfc9207#2 returns an error with iss, and state if one was sent", () => {
    const error = new OAuthError("access_denied", "The user cancelled", { vendorError: "user_denied" });
    expect(parameters(errorRedirect(error, { ...to, state: undefined }, {}).headers["location"])).toEqual({
      tab: "1",
      error: "access_denied",
      error_description: "The user cancelled",
      vendor_error: "user_denied",
      iss: "https://broker.example",
      flow_id: "f",
    });
  });

  it.each([
    [new OAuthError("invalid_client", "no"), 401, { "www-authenticate": expect.stringMatching(/^Basic /) }],
    [new OAuthError("temporarily_unavailable", "later"), 503, { "retry-after": "5" }],
    [new OAuthError("slow_down", "later", { retryAfterSeconds: 9 }), 429, { "retry-after": "9" }],
    [new OAuthError("method_not_allowed", "no", { allow: "GET" }), 405, { allow: "GET" }],
    [new OAuthError("invalid_request", "large", { status: 413 }), 413, {}],
  ])("rfc6749#5.2 answers %s with its status and headers", (error, status, headers) => {
    const answer = errorAnswer(error, "f");
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject(headers);
    expect(JSON.parse(String(answer.body))).toMatchObject({
      error: error.code,
      error_description: error.description,
      flow_id: "f",
    });
  });

  it("does not expose detail and cause", () => {
    const error = new OAuthError("server_error", "Something went wrong", {
      detail: "canary",
      cause: new Error("canary"),
    });
    expect(JSON.stringify(errorAnswer(error))).not.toContain("canary");
  });
});

describe("formPageAnswer", () => {
  const { headers, status } = formPageAnswer("<form>", "'sha256-x'", { "set-cookie": "a=b" });

  it("allows its form to lead to other sites, and sends the Origin to its own server", () => {
    expect([status, headers["set-cookie"], headers["x-frame-options"]]).toEqual([200, "a=b", "DENY"]);
    expect(headers["content-security-policy"]).not.toContain("form-action");
    // Chromium posts from `Origin: null` under no-referrer.
    expect(headers["referrer-policy"]).toBe("same-origin");
  });
});

describe("foreignAnswer", () => {
  const page = new TextEncoder().encode("<script>alert(1)</script>");

  it("passes on status, type and bytes, under headers that stop a browser from rendering them", () => {
    const answer = foreignAnswer(418, "text/html; charset=x", page);
    expect(answer).toEqual({
      status: 418,
      headers: {
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "content-security-policy": expect.stringMatching(/^default-src 'none'; frame-ancestors 'none';.*; sandbox$/),
        "content-type": "text/html; charset=x",
      },
      body: page,
    });
  });

  it("leaves out a type that was not sent, and a body that the status forbids", () => {
    expect(foreignAnswer(200, undefined, page).headers).not.toHaveProperty("content-type");
    expect(new Response(foreignAnswer(204, undefined, page).body, { status: 204 }).status).toBe(204);
  });
});

describe("bearerChallenge", () => {
  it("rfc6750#3 names no error to a request without a token, and refers to the metadata", () => {
    expect(bearerChallenge({})).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
    const resourceMetadata = "https://server.example/.well-known/oauth-protected-resource";
    expect(bearerChallenge({ resourceMetadata, scope: "mcp" }).headers["www-authenticate"]).toBe(
      `Bearer scope="mcp", resource_metadata="${resourceMetadata}"`,
    );
  });

  it.each([
    ["invalid_token", 401],
    ["insufficient_scope", 403],
    ["invalid_request", 400],
  ] as const)("rfc6750#3 rfc9728#5.1 answers %s with %i, quoted so that nothing breaks out", (code, status) => {
    const answer = bearerChallenge({ error: { code, description: 'no " and no \r\n' }, scope: "a b" });
    expect(answer.status).toBe(status);
    expect(answer.headers["www-authenticate"]).toBe(
      `Bearer error="${code}", error_description="no  and no ", scope="a b"`,
    );
  });
});
