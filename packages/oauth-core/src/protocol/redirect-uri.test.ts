import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  REDIRECT_URI_NEAR_MISSES,
  REGISTERED_REDIRECT_URI,
  redirectUriNearMisses,
} from "../testing/redirect-uri-corpus.ts";
import { OAuthError } from "./errors.ts";
import { redirectUrl, verifyNativeRedirectUri, verifyRedirectUri } from "./redirect-uri.ts";
import type { VerifiedRedirect } from "./redirect-uri.ts";

const REGISTERED = REGISTERED_REDIRECT_URI;
const LIST = ["https://other.example.com/cb", REGISTERED, "http://127.0.0.1:8080/cb"];
const REFUSED = expect.objectContaining({ code: "invalid_redirect_uri", status: 400 });
const RUNS = { seed: 1, numRuns: 1000 };

describe("verifyRedirectUri", () => {
  it.each(LIST)("rfc6749#3.1.2.3 accepts %s, which is on the list", (uri) => {
    expect(verifyRedirectUri(uri, LIST).uri).toBe(uri);
  });

  it("refuses everything for a client that has no list", () => {
    expect(() => verifyRedirectUri(REGISTERED, [])).toThrow(REFUSED);
  });

  it("the corpus is whole", () => {
    expect(REDIRECT_URI_NEAR_MISSES.length).toBeGreaterThanOrEqual(200);
    expect(new Set(REDIRECT_URI_NEAR_MISSES.map(({ name }) => name)).size).toBe(REDIRECT_URI_NEAR_MISSES.length);
    expect(redirectUriNearMisses("http://127.0.0.1:8080/cb").length).toBeGreaterThanOrEqual(200);
  });

  it.each(REDIRECT_URI_NEAR_MISSES)("bar#ST-2 refuses $name", ({ uri }) => {
    expect(() => verifyRedirectUri(uri, LIST)).toThrow(REFUSED);
    expect(() => verifyNativeRedirectUri(uri, LIST)).toThrow(REFUSED);
  });

  // The twins: each of these comparisons has been somebody's, and the corpus gets through each.
  it.each<[string, (requested: string) => boolean]>([
    ["a prefix", (requested) => requested.startsWith(REGISTERED)],
    ["a prefix of the origin", (requested) => requested.startsWith(new URL(REGISTERED).origin)],
    ["the parsed URL", (requested) => URL.parse(requested)?.href === REGISTERED],
    [
      "the parsed URL without query",
      (requested) => `${URL.parse(requested)?.origin}${URL.parse(requested)?.pathname}` === REGISTERED,
    ],
    ["the parsed host", (requested) => URL.parse(requested)?.hostname === "client.example.com"],
    ["the end of the host", (requested) => URL.parse(requested)?.hostname.endsWith("client.example.com") ?? false],
    ["lower case", (requested) => requested.toLowerCase() === REGISTERED],
    ["trimmed text", (requested) => requested.trim() === REGISTERED],
    ["decoded text", (requested) => /%/.test(requested) && safeDecode(requested) === REGISTERED],
    ["Unicode compatibility forms", (requested) => requested.normalize("NFKC") === REGISTERED],
    ["an unescaped pattern", (requested) => new RegExp(`^${REGISTERED}$`).test(requested)],
    ["anything that contains it", (requested) => requested.includes(REGISTERED)],
  ])("bar#ST-2 twin: comparing by %s lets some in", (_, matches) => {
    expect(REDIRECT_URI_NEAR_MISSES.filter(({ uri }) => matches(uri)).length).toBeGreaterThan(0);
  });

  it("rfc9700#2.1 accepts exactly what is on the list, whatever the list", () => {
    fc.assert(
      fc.property(
        fc.array(fc.webUrl(), { maxLength: 3 }),
        fc.oneof(fc.webUrl(), fc.string({ unit: "binary" })),
        (list, requested) => {
          expect(accepts(() => verifyRedirectUri(requested, list))).toBe(list.includes(requested));
        },
      ),
      RUNS,
    );
  });
});

describe("verifyNativeRedirectUri", () => {
  it.each([
    ["http://127.0.0.1:8080/cb", "http://127.0.0.1:49152/cb"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:65535/cb"],
    ["http://127.0.0.1:8080/cb", "http://127.0.0.1/cb"],
    ["http://[::1]:8080/cb?x=1", "http://[::1]:1/cb?x=1"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8081"],
    [REGISTERED, REGISTERED],
    ["http://localhost:8080/cb", "http://localhost:8080/cb"],
  ])("rfc8252#7.3 with %s registered, accepts %s", (registered, requested) => {
    expect(verifyNativeRedirectUri(requested, [registered]).uri).toBe(requested);
    expect(redirectUrl(verifyNativeRedirectUri(requested, [registered]), { code: "x" })).toContain(requested);
  });

  it.each([
    ["another address", "http://127.0.0.2:8080/cb"],
    ["the other loopback address", "http://[::1]:8080/cb"],
    ["localhost", "http://localhost:8080/cb"],
    ["https", "https://127.0.0.1:8080/cb"],
    ["another path", "http://127.0.0.1:8081/cb/"],
    ["an added query", "http://127.0.0.1:8081/cb?x=1"],
    ["a fragment", "http://127.0.0.1:8081/cb#x"],
    ["an empty port", "http://127.0.0.1:/cb"],
    ["port 0", "http://127.0.0.1:0/cb"],
    ["a leading zero", "http://127.0.0.1:08080/cb"],
    ["a port too high", "http://127.0.0.1:65536/cb"],
    ["six digits", "http://127.0.0.1:808080/cb"],
    ["user information", "http://127.0.0.1:8081@evil.example/cb"],
    ["user information before", "http://evil.example@127.0.0.1:8081/cb"],
    ["a suffix", "http://127.0.0.1.evil.example:8081/cb"],
    ["a backslash", "http://127.0.0.1:8081\\cb"],
    ["another spelling of the address", "http://127.1:8081/cb"],
    ["a line break", "http://127.0.0.1:8081\n/cb"],
    ["upper case", "HTTP://127.0.0.1:8081/cb"],
  ])("rfc8252#7.3 refuses %s", (_, requested) => {
    expect(() => verifyNativeRedirectUri(requested, ["http://127.0.0.1:8080/cb"])).toThrow(REFUSED);
  });

  it("looks at every registered URI", () => {
    const list = ["https://a.example/cb", "http://[::1]/cb", "http://127.0.0.1:8080/cb"];
    expect(verifyNativeRedirectUri("http://127.0.0.1:9999/cb", list).uri).toBe("http://127.0.0.1:9999/cb");
    expect(() => verifyNativeRedirectUri("http://127.0.0.1:9999/other", list)).toThrow(REFUSED);
  });

  it("gives no freedom of port outside the loopback addresses", () => {
    for (const registered of [
      "http://localhost:8080/cb",
      "https://client.example.com:8080/cb",
      "https://127.0.0.1:8080/cb",
    ]) {
      expect(() => verifyNativeRedirectUri(registered.replace("8080", "8081"), [registered])).toThrow(REFUSED);
    }
  });
});

describe("redirectUrl", () => {
  it.each([
    [REGISTERED, `${REGISTERED}?code=a+b%26c&state=%C3%A9%3D`],
    ["https://a.example/cb?x=1", "https://a.example/cb?x=1&code=a+b%26c&state=%C3%A9%3D"],
    ["https://a.example/cb?x=1&", "https://a.example/cb?x=1&code=a+b%26c&state=%C3%A9%3D"],
    ["https://a.example/cb?", "https://a.example/cb?code=a+b%26c&state=%C3%A9%3D"],
    ["https://a.example", "https://a.example?code=a+b%26c&state=%C3%A9%3D"],
  ])("rfc6749#3.1.2 keeps %s as registered and adds to it", (uri, expected) => {
    expect(redirectUrl(verifyRedirectUri(uri, [uri]), { code: "a b&c", iss: undefined, state: "é=" })).toBe(expected);
  });

  it("leaves the URI alone when there is nothing to add", () => {
    expect(redirectUrl(verifyRedirectUri(REGISTERED, LIST), { state: undefined })).toBe(REGISTERED);
  });

  it("brings any state back byte for byte and never leaves the registered URI", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary-ascii" }), (state, code) => {
        const url = redirectUrl(verifyRedirectUri(REGISTERED, LIST), { code, state });
        expect(url.startsWith(`${REGISTERED}?`)).toBe(true);
        expect(url).toMatch(/^[\x21-\x7e]+$/);
        expect(new URL(url).searchParams.get("state")).toBe(state);
        expect(new URL(url).searchParams.get("code")).toBe(code);
      }),
      RUNS,
    );
  });
});

describe("VerifiedRedirect", () => {
  const redirect = verifyRedirectUri(REGISTERED, LIST);

  it("cannot be built by another module", () => {
    // @ts-expect-error: the symbol is private to redirect-uri.ts
    const forged: VerifiedRedirect = { uri: "https://evil.example/" };
    expect(() => redirectUrl(forged, { code: "x" })).toThrow(TypeError);
  });

  it("cannot be read back from JSON", () => {
    const parsed: { readonly uri: string } = JSON.parse(JSON.stringify(redirect));
    // @ts-expect-error: what was stored has to be verified again
    const stored: VerifiedRedirect = parsed;
    expect(() => redirectUrl(stored, { code: "x" })).toThrow(TypeError);
  });

  it("leads to what was verified, even from a copy with another uri", () => {
    const copy: VerifiedRedirect = { ...redirect, uri: "https://evil.example/" };
    expect(redirectUrl(copy, { code: "x" })).toBe(`${REGISTERED}?code=x`);
  });

  it("cannot be changed", () => {
    expect(() => Object.assign(redirect, { uri: "https://evil.example/" })).toThrow(TypeError);
  });
});

/** Whether `check` passes; anything it throws but an OAuthError fails the test. */
function accepts(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(OAuthError);
    return false;
  }
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
