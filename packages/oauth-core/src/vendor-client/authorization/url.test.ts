import { describe, expect, it } from "vitest";
import type { ResolvedVendor } from "../../registry/vendor.ts";
import { resolvedVendor as vendor } from "../../testing/network/resolved-vendor.ts";
import { type AuthorizationRequest, authorizationUrl } from "./url.ts";
import { words } from "../../testing/corpora/words.ts";

const REQUEST: AuthorizationRequest = {
  clientId: "client",
  redirectUri: "https://broker.example/v1/callback",
  state: "s.t.u",
  scope: ["read", "write"],
  codeChallenge: "challenge",
};
const sent = (entry: ResolvedVendor, changes: Partial<AuthorizationRequest> = {}): [string, string][] => [
  ...new URL(authorizationUrl(entry, { ...REQUEST, ...changes })).searchParams,
];
const OURS = {
  response_type: "code",
  client_id: "client",
  redirect_uri: "https://broker.example/v1/callback",
  scope: "read write",
  state: "s.t.u",
  code_challenge: "challenge",
  code_challenge_method: "S256",
};

describe("authorizationUrl", () => {
  it("rfc6749#4.1.1 rfc7636#4.3 bar#VR-1 has what a code flow with PKCE needs", () => {
    expect(Object.fromEntries(sent(vendor()))).toEqual(OURS);
  });

  it("adds what was asked for", () => {
    const asked = {
      nonce: "n",
      loginHint: "a@b",
      prompt: "consent",
      resource: "https://api.example/x",
      extra: { team: "T&=+ é" },
    };
    expect(Object.fromEntries(sent(vendor(), asked))).toEqual({
      ...OURS,
      nonce: "n",
      login_hint: "a@b",
      prompt: "consent",
      resource: "https://api.example/x",
      team: "T&=+ é",
    });
  });

  it("joins scopes as the vendor wants, and sends no scope where none was requested", () => {
    expect(authorizationUrl(vendor({ scopeSeparator: "," }), REQUEST)).toContain("&scope=read%2Cwrite&");
    expect(authorizationUrl(vendor(), REQUEST)).toContain("&scope=read%20write&");
    expect(authorizationUrl(vendor(), { ...REQUEST, scope: [] })).not.toContain("scope");
  });

  it("sends the challenge by the vendor's method, or none", () => {
    expect(Object.fromEntries(sent(vendor({ pkce: "plain" })))).toMatchObject({
      code_challenge: "challenge",
      code_challenge_method: "plain",
    });
    expect(authorizationUrl(vendor({ pkce: "none" }), REQUEST)).not.toContain("code_challenge");
  });

  it("bar#VR-1 creates no URL without a required challenge", () => {
    const { codeChallenge: _codeChallenge, ...unbound } = REQUEST;
    expect(() => authorizationUrl(vendor(), unbound)).toThrow(expect.objectContaining({ code: "server_error" }));
  });

  it("bar#ST-4 has every parameter once, whatever endpoint, entry and caller say", () => {
    const entry = vendor({
      authorizationEndpoint: "https://v.example/a?tenant=1&client_id=evil&response_type=token&tenant=2&Redirect_URI=x",
      authorizationParams: {
        access_type: "offline",
        prompt: "consent",
        state: "evil",
        code_challenge_method: "plain",
        redirect_uri: "evil",
        response_mode: "form_post",
      },
    });
    const parameters = sent(entry, { prompt: "none", extra: { access_type: "online" } });
    expect(new Set(parameters.map(([name]) => name.toLowerCase())).size).toBe(parameters.length);
    expect(Object.fromEntries(parameters)).toEqual({
      ...OURS,
      tenant: "2",
      access_type: "online",
      prompt: "none",
      response_mode: "form_post",
    });
  });

  it("bar#ST-4 has a parameter once that the vendor calls by a name of its own", () => {
    const entry = vendor({
      parameterNames: { client_id: "client_key" },
      authorizationEndpoint: "https://v.example/a?client_key=evil",
      authorizationParams: { client_key: "evil" },
    });
    expect(sent(entry).filter(([name]) => name === "client_key")).toEqual([["client_key", OURS.client_id]]);
  });

  it.each(words(`state redirect_uri Redirect_Uri redirect.uri code_challenge_method response_mode request`))(
    "bar#ST-4 refuses %s from the caller",
    (name) => {
      expect(() => authorizationUrl(vendor(), { ...REQUEST, extra: { [name]: "x" } })).toThrow(
        expect.objectContaining({ code: "invalid_request" }),
      );
    },
  );

  it("leaves out what is empty", () => {
    const url = authorizationUrl(vendor({ authorizationParams: { audience: "" } }), {
      ...REQUEST,
      prompt: "",
      extra: { team: "" },
    });
    expect(url).not.toMatch(/audience|prompt|team/);
  });
});
