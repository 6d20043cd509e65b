import { describe, expect, it } from "vitest";
import { queryOfCallback } from "./callback.ts";

const REDIRECT_URI = "https://platform.example/oauth/connectors/notes/callback";

describe("the address the browser came back to", () => {
  it("is the redirect URI, whatever a proxy made of scheme and host", () => {
    expect(queryOfCallback(`${REDIRECT_URI}?code=a&state=b`, REDIRECT_URI)).toBe("code=a&state=b");
    expect(queryOfCallback("/oauth/connectors/notes/callback?code=a", REDIRECT_URI)).toBe("code=a");
    expect(queryOfCallback("http://127.0.0.1:8789/oauth/connectors/notes/callback", REDIRECT_URI)).toBe("");
  });

  it.each([
    "/oauth/callback",
    "/oauth/connectors/other/callback",
    "/oauth/connectors/notes/callback/",
    "/oauth/connectors/notes/callback/below",
    "/oauth/connectors/notes",
    "/oauth/connectors/Notes/callback",
    "/oauth/connectors/%6eotes/callback",
    "/oauth/connectors/notes%2fcallback",
    "//evil.example",
    "?code=a",
  ])("rfc9700#4.4.2.2 is refused at %s", (path) => {
    const at = path.startsWith("?") ? `https://platform.example/${path}` : `${path}?code=a&state=b`;
    expect(() => queryOfCallback(at, REDIRECT_URI)).toThrow(
      expect.objectContaining({ code: "invalid_callback", details: { reason: "wrong_path" } }),
    );
  });

  it("is refused where it is no URL", () => {
    expect(() => queryOfCallback("http://[", REDIRECT_URI)).toThrow(
      expect.objectContaining({ code: "invalid_callback", details: { reason: "malformed" } }),
    );
  });
});
