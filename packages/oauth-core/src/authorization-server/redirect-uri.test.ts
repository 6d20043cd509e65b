import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  LOOPBACK_NEAR_MISSES,
  LOOPBACK_REDIRECT_URIS,
  REDIRECT_URI_NEAR_MISSES,
  REGISTERED_REDIRECT_URI,
  redirectUriNearMisses,
} from "../testing/corpora/redirect-uri-corpus.ts";
import { accepts } from "../testing/accepts.ts";
import { redirectUrl, verifyNativeRedirectUri, verifyRedirectUri } from "./redirect-uri.ts";
import type { VerifiedRedirect } from "./redirect-uri.ts";
import { anyText, anyWebUrl } from "../testing/any-text.ts";

const REGISTERED = REGISTERED_REDIRECT_URI;
const LIST = ["https://other.example.com/cb", REGISTERED, "http://127.0.0.1:8080/cb"];
const REFUSED = expect.objectContaining({
  code: "invalid_request",
  status: 400,
  extras: expect.objectContaining({ reason: "redirect_uri" }),
});
const RUNS = { seed: 1, numRuns: 200 };

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

  // The twins: servers have used each of these comparisons, and the corpus gets through each.
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
        fc.array(anyWebUrl(fc), { maxLength: 3 }),
        fc.oneof(anyWebUrl(fc), anyText(fc)),
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
    ["http://localhost/callback", "http://localhost:51823/callback"],
    ["http://localhost:8080/cb", "http://localhost/cb"],
    ["http://localhost:8080/cb?x=1", "http://localhost:8081/cb?x=1"],
  ])("rfc8252#7.3 with %s registered, accepts %s", (registered, requested) => {
    expect(verifyNativeRedirectUri(requested, [registered]).uri).toBe(requested);
    expect(redirectUrl(verifyNativeRedirectUri(requested, [registered]), { code: "x" })).toContain(requested);
  });

  it.each(LOOPBACK_NEAR_MISSES)("rfc8252#8.3 with $registered registered, refuses $name", ({ registered, uri }) => {
    expect(() => verifyNativeRedirectUri(uri, [registered])).toThrow(REFUSED);
  });

  it.each(LOOPBACK_REDIRECT_URIS)(
    "bar#AS-1 lets nothing of the whole corpus in for %s but other ports",
    (registered) => {
      const accepted = redirectUriNearMisses(registered).filter(({ uri }) =>
        accepts(() => verifyNativeRedirectUri(uri, [registered])),
      );
      const withPort = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost):[1-9]\d*\/callback$/;
      expect(accepted.map(({ uri }) => uri).filter((uri) => !withPort.test(uri))).toEqual([]);
      expect(accepted.length).toBeLessThanOrEqual(5);
    },
  );

  // The twins: each of these would let some of the corpus in.
  it.each<[string, (requested: URL, registered: URL) => boolean]>([
    ["the path alone", (requested, registered) => requested.pathname === registered.pathname],
    ["the parsed host", (requested, registered) => requested.hostname === registered.hostname],
    ["whether it is loopback at all", (requested) => /^(localhost|127\.|\[::1\])/.test(requested.hostname)],
    ["the start of the host", (requested, registered) => requested.hostname.startsWith(registered.hostname)],
    [
      "everything parsed but the port",
      (requested, registered) => {
        const port = "1";
        return Object.assign(requested, { port }).href === Object.assign(registered, { port }).href;
      },
    ],
  ])("rfc8252#8.3 twin: comparing by %s lets some in", (_, matches) => {
    const letIn = LOOPBACK_NEAR_MISSES.filter(({ uri, registered }) => {
      const requested = URL.parse(uri);
      return requested !== null && matches(requested, new URL(registered));
    });
    expect(letIn.length).toBeGreaterThan(0);
  });

  it("looks at every registered URI", () => {
    const list = ["https://a.example/cb", "http://[::1]/cb", "http://127.0.0.1:8080/cb"];
    expect(verifyNativeRedirectUri("http://127.0.0.1:9999/cb", list).uri).toBe("http://127.0.0.1:9999/cb");
    expect(() => verifyNativeRedirectUri("http://127.0.0.1:9999/other", list)).toThrow(REFUSED);
  });

  it("gives no freedom of port outside loopback, and none by the exact comparison", () => {
    for (const uri of LOOPBACK_REDIRECT_URIS) {
      const withPort = uri.replace("/callback", ":49152/callback");
      expect(verifyNativeRedirectUri(withPort, [uri]).uri).toBe(withPort);
      expect(() => verifyRedirectUri(withPort, [uri])).toThrow(REFUSED);
    }
    for (const registered of [
      "https://localhost:8080/cb",
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

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
