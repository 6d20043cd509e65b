import { describe, expect, it } from "vitest";
import { createSessionId, issueToken, looksIssued, parseIssuedToken, type TokenType } from "./issued-token.ts";

const tagging = { key: Buffer.alloc(32, 1), audience: "https://server.example/mcp" };
const of = { sessionId: createSessionId(), generation: 7 };
const TYPES: readonly TokenType[] = ["access", "refresh"];
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

describe.each(TYPES)("a token of type %s", (type) => {
  const { token, hash } = issueToken(type, of, tagging);
  const other: TokenType = type === "access" ? "refresh" : "access";

  it("reveals its session and generation, and has a hash of its own", () => {
    expect(parseIssuedToken(type, token, tagging)).toEqual({ ...of, hash });
    expect(token).toMatch(type === "access" ? /^mcp_at_[\w-]{88}$/ : /^mcp_rt_[\w-]{88}$/);
    expect(issueToken(type, of, tagging).hash).not.toBe(hash);
  });

  it("bar#RS-2 bar#RF-8 is not accepted as the other type, even with its prefix", () => {
    expect(parseIssuedToken(other, token, tagging)).toBeUndefined();
    const disguised = token.replace(/^mcp_.t_/, type === "access" ? "mcp_rt_" : "mcp_at_");
    expect(looksIssued(other, disguised)).toBe(true);
    expect(parseIssuedToken(other, disguised, tagging)).toBeUndefined();
  });

  it("bar#RS-2 is invalid at a server with another key or another audience", () => {
    expect(parseIssuedToken(type, token, { ...tagging, key: Buffer.alloc(32, 2) })).toBeUndefined();
    expect(parseIssuedToken(type, token, { ...tagging, audience: "https://other.example/mcp" })).toBeUndefined();
  });

  it("bar#RS-2 is refused with any one character changed to any other", () => {
    const accepted: string[] = [];
    for (let at = 0; at < token.length; at += 1) {
      for (const character of ALPHABET) {
        const altered = token.slice(0, at) + character + token.slice(at + 1);
        if (altered !== token && parseIssuedToken(type, altered, tagging) !== undefined) accepted.push(altered);
      }
    }
    expect(accepted).toEqual([]);
  });

  it("bar#RS-2 is refused cut, longer, spaced, in another alphabet, and in pieces of two", () => {
    const second = issueToken(type, of, tagging).token;
    const altered = [
      ...Array.from({ length: token.length }, (_, length) => token.slice(0, length)),
      `${token}A`,
      `${token}=`,
      `${token}\n`,
      ` ${token}`,
      token.toUpperCase(),
      token.replace("mcp_", "mcp-"),
      token + token,
      ...Array.from({ length: 80 }, (_, index) => token.slice(0, 10 + index) + second.slice(10 + index)),
    ];
    for (const one of altered) {
      if (one === token || one === second) continue;
      expect(parseIssuedToken(type, one, tagging), one).toBeUndefined();
    }
  });
});

it.each([
  "",
  "mcp_at_",
  "xoxp-1234-5678",
  "gho_16C7e42F292c6912E7710c838347Ae178B4a",
  "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
  `mcp_at_${"A".repeat(88)}`,
  `mcp_at_${"é".repeat(88)}`,
  `mcp_at_${"\0".repeat(88)}`,
  `mcp_at_${"\ud800".repeat(88)}`,
  "A".repeat(1_000_000),
  `mcp_at_${"A".repeat(1_000_000)}`,
])("bar#RS-2 a text that is not a token of ours is refused without an error: %#", (junk) => {
  for (const type of TYPES) expect(parseIssuedToken(type, junk, tagging)).toBeUndefined();
});

it("an id of a session is 128 random bits", () => {
  const ids = Array.from({ length: 1000 }, createSessionId);
  expect(new Set(ids).size).toBe(1000);
  expect(ids.every((id) => /^[\w-]{22}$/.test(id))).toBe(true);
});
