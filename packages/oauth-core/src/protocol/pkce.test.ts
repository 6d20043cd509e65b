import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accepts } from "../testing/accepts.ts";
import {
  createCodeVerifier,
  deriveCodeChallenge,
  deriveCodeVerifier,
  parseCodeVerifier,
  requireS256Challenge,
  verifyCodeVerifier,
} from "./pkce.ts";
import { anyText } from "../testing/any-text.ts";

// The pair printed in rfc7636 appendix B.
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const INVALID_REQUEST = expect.objectContaining({ code: "invalid_request" });

describe("making a verifier", () => {
  it("rfc7636#4.1 is 43 unreserved characters and never the same twice", () => {
    const verifiers = Array.from({ length: 1000 }, createCodeVerifier);
    expect(new Set(verifiers).size).toBe(1000);
    for (const verifier of verifiers) expect(verifier).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it("derives the same verifier for the same key and flow, another for any other", () => {
    const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    expect(deriveCodeVerifier(key, "flow-1")).toBe(deriveCodeVerifier(key, "flow-1"));
    expect(parseCodeVerifier(deriveCodeVerifier(key, "flow-1"))).toHaveLength(43);
    const all = [
      deriveCodeVerifier(key, "flow-1"),
      deriveCodeVerifier(key, "flow-2"),
      deriveCodeVerifier(other, "flow-1"),
    ];
    expect(new Set(all).size).toBe(3);
  });

  it("derives what releases before this one derived", () => {
    // Computed once with `openssl dgst -sha256 -mac HMAC`; flows in flight depend on it.
    expect(deriveCodeVerifier(Buffer.alloc(32, 7), "flow-1")).toBe("TVN4uQeFhfykb-5H0IKCA0N6OLMJtOWcxMdRLW72D4g");
  });

  it("rfc7636#4.2 is answered by the challenge of appendix B", () => {
    expect(deriveCodeChallenge(VERIFIER)).toBe(CHALLENGE);
  });
});

describe("requireS256Challenge", () => {
  it("accepts 43 characters of base64url with S256", () => {
    expect(requireS256Challenge(CHALLENGE, "S256")).toBe(CHALLENGE);
  });

  it("rfc7636#4.4.1 refuses a request without code_challenge", () => {
    expect(() => requireS256Challenge(undefined, "S256")).toThrow(INVALID_REQUEST);
    expect(() => requireS256Challenge(undefined, "S256")).toThrow("code_challenge is missing");
    expect(() => requireS256Challenge(undefined, undefined)).toThrow(INVALID_REQUEST);
  });

  it.each<[string, string, string | undefined]>([
    ["method plain", VERIFIER, "plain"],
    ["no method, which means plain", CHALLENGE, undefined],
    ["an empty method", CHALLENGE, ""],
    ["the method in lower case", CHALLENGE, "s256"],
    ["an unknown method", CHALLENGE, "S512"],
    ["a method with a space", CHALLENGE, "S256 "],
    ["42 characters", CHALLENGE.slice(1), "S256"],
    ["44 characters", `${CHALLENGE}A`, "S256"],
    ["128 characters", "a".repeat(128), "S256"],
    ["129 characters", "a".repeat(129), "S256"],
    ["padding", `${CHALLENGE}=`, "S256"],
    ["padding in place of a character", `${CHALLENGE.slice(0, 42)}=`, "S256"],
    ["the standard alphabet's +", `+${CHALLENGE.slice(1)}`, "S256"],
    ["the standard alphabet's /", `/${CHALLENGE.slice(1)}`, "S256"],
    ["a dot", `.${CHALLENGE.slice(1)}`, "S256"],
    ["a tilde", `~${CHALLENGE.slice(1)}`, "S256"],
    ["a space", ` ${CHALLENGE.slice(1)}`, "S256"],
    ["a line break at the end", `${CHALLENGE.slice(1)}\n`, "S256"],
    ["a letter outside ASCII", `é${CHALLENGE.slice(1)}`, "S256"],
  ])("bar#ST-3 refuses %s", (_, challenge, method) => {
    expect(() => requireS256Challenge(challenge, method)).toThrow(INVALID_REQUEST);
  });
});

describe("parseCodeVerifier", () => {
  it.each([VERIFIER, "a".repeat(43), "a".repeat(128), `${"a".repeat(40)}-._~`])(
    "rfc7636#4.1 accepts %s",
    (verifier) => {
      expect(parseCodeVerifier(verifier)).toBe(verifier);
    },
  );

  it("rfc7636#4.6 bar#AS-3 refuses a missing one as invalid_grant", () => {
    expect(() => parseCodeVerifier(undefined)).toThrow(expect.objectContaining({ code: "invalid_grant" }));
  });

  it.each([
    "",
    "a".repeat(42),
    "a".repeat(129),
    `${"a".repeat(43)}=`,
    `${"a".repeat(43)}\n`,
    `+${"a".repeat(43)}`,
    "é".repeat(43),
  ])("rfc7636#4.1 refuses %j as invalid_request", (verifier) => {
    expect(() => parseCodeVerifier(verifier)).toThrow(INVALID_REQUEST);
  });

  it("throws nothing but OAuthError", () => {
    fc.assert(
      fc.property(anyText(fc, { maxLength: 140 }), (text) => {
        expect(accepts(() => parseCodeVerifier(text))).toBe(/^[A-Za-z0-9._~-]{43,128}$/.test(text));
      }),
      { seed: 1, numRuns: 200 },
    );
  });
});

describe("verifyCodeVerifier", () => {
  it("accepts the verifier the challenge was made from", () => {
    expect(() => verifyCodeVerifier(VERIFIER, CHALLENGE)).not.toThrow();
  });

  it.each([
    ["another verifier", "a".repeat(43), CHALLENGE],
    ["the challenge itself, as plain would", CHALLENGE, CHALLENGE],
    ["the verifier as its own challenge, as plain would", VERIFIER, VERIFIER],
    ["one character more", `${VERIFIER}a`, CHALLENGE],
    ["a stored challenge that is empty", VERIFIER, ""],
    ["a stored challenge with a character folded outside ASCII", VERIFIER, CHALLENGE.replace("E", "\u0145")],
  ])("rfc7636#4.6 refuses %s as invalid_grant", (_, verifier, challenge) => {
    expect(() => verifyCodeVerifier(verifier, challenge)).toThrow(expect.objectContaining({ code: "invalid_grant" }));
  });
});
