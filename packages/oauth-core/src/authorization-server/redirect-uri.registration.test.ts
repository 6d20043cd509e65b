import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REDIRECT_URI_NEAR_MISSES, REGISTERED_REDIRECT_URI } from "../testing/corpora/redirect-uri-corpus.ts";
import { accepts } from "../testing/accepts.ts";
import { requireRegistrableRedirectUri } from "./redirect-uri.ts";
import { anyText, anyWebUrl } from "../testing/any-text.ts";

const REGISTERED = REGISTERED_REDIRECT_URI;
const REFUSED = expect.objectContaining({ code: "invalid_redirect_uri", status: 400 });
const RUNS = { seed: 1, numRuns: 200 };

describe("requireRegistrableRedirectUri", () => {
  it.each([
    REGISTERED,
    "https://a.example",
    "https://a.example/",
    "https://ab.example/",
    `https://${"a".repeat(63)}.example/`,
    `https://a.example/${"a".repeat(1982)}`,
    "https://a.example:8443/cb",
    "https://a.example/cb?tenant=1&x=%2Fy",
    "https://xn--bcher-kva.example/cb",
    "https://a.example/caf%C3%A9",
    "https://203.0.113.7/cb",
    "https://[2001:db8::1]/cb",
    "https://localhost/cb",
    "http://localhost:8080/cb",
    "http://127.0.0.1/cb",
    "http://127.0.0.1:8080",
    "http://[::1]:8080/cb",
  ])("accepts %s", (uri) => {
    expect(() => requireRegistrableRedirectUri(uri)).not.toThrow();
  });

  it.each([
    ["a fragment", `${REGISTERED}#x`],
    ["http outside loopback", "http://a.example/cb"],
    ["http on a look-alike of loopback", "http://127.0.0.1.a.example/cb"],
    ["http on another loopback address", "http://127.0.0.2/cb"],
    ["http on a name below localhost", "http://a.localhost/cb"],
    ["a private-use scheme", "com.example.app:/cb"],
    ["an app scheme", "myapp://callback"],
    ["javascript", "javascript:alert(1)"],
    ["data", "data:text/html,x"],
    ["a URN", "urn:ietf:wg:oauth:2.0:oob"],
    ["a user name", "https://user@a.example/cb"],
    ["a password without a user name", "https://:pw@a.example/cb"],
    ["one character more than 2000", `https://a.example/${"a".repeat(1983)}`],
    ["a wildcard label", "https://*.a.example/cb"],
    ["a parameter of our response", "https://a.example/cb?code=x"],
    ["state in its query", "https://a.example/cb?x=1&state="],
    ["an escaped parameter of our response", "https://a.example/cb?%73tate=1"],
    ["a label too long", `https://${"a".repeat(64)}.example/cb`],
    ["a relative path", "/cb"],
    ["no scheme", "a.example/cb"],
    ["more than 2000 characters", `https://a.example/${"a".repeat(2000)}`],
    ["escaped bytes that are not UTF-8, then a dot", "https://a.example/%2e/cb"],
    ["an escaped line break in its query", "https://a.example/cb?x=%0A"],
    ["an escaped NUL in its query", "https://a.example/cb?x=%00"],
  ])("rfc6749#3.1.2 refuses %s", (_, uri) => {
    expect(() => requireRegistrableRedirectUri(uri)).toThrow(REFUSED);
  });

  it("rfc9700#2.6 refuses http wherever it is not loopback", () => {
    expect(() => requireRegistrableRedirectUri("http://client.example.com/cb")).toThrow(REFUSED);
  });

  const TRICKS = /^(?:encoded|slashes|backslashes|traversal|fragment|scheme|white space|invisible|wildcards)/;
  // Other, but plain: an exact comparison is all that tells these from the registered one.
  const PLAIN = ["https://client.example.com/oauth/callback/", "https://client.example.comoauth/callback"];

  it.each(REDIRECT_URI_NEAR_MISSES.filter(({ name, uri }) => TRICKS.test(name) && !PLAIN.includes(uri)))(
    "refuses to register $name",
    ({ uri }) => {
      expect(() => requireRegistrableRedirectUri(uri)).toThrow(REFUSED);
    },
  );

  it("throws nothing but OAuthError, and what it accepts is what a browser would request", () => {
    fc.assert(
      fc.property(fc.oneof(anyWebUrl(fc), anyText(fc)), (uri) => {
        const requested = accepts(() => requireRegistrableRedirectUri(uri)) ? new URL(uri).href : uri;
        expect([uri, `${uri}/`]).toContain(requested);
      }),
      RUNS,
    );
  });
});
