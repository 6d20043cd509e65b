import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accepts } from "../testing/accepts.ts";
import { isReservedAuthorizationParameter, parseStringMap, RESERVED_AUTHORIZATION_PARAMETERS } from "./parameters.ts";
import { anyText } from "../testing/any-text.ts";
import { words } from "../testing/corpora/words.ts";

const RUNS = { seed: 1, numRuns: 200 };
const REFUSED = expect.objectContaining({ code: "invalid_request", status: 400 });

describe("reserved authorization parameters", () => {
  const NAMED_BY_THE_BAR = words(`client_id redirect_uri response_type response_mode state nonce code_challenge
    code_challenge_method request request_uri iss`);

  it.each([...NAMED_BY_THE_BAR, "scope", "client_secret", "client_assertion", "code_verifier"])(
    "bar#ST-4 reserves %s",
    (name) => {
      expect(RESERVED_AUTHORIZATION_PARAMETERS.has(name)).toBe(true);
      expect(isReservedAuthorizationParameter(name)).toBe(true);
    },
  );

  it.each([
    ...words(`Redirect_Uri STATE redirect.uri redirect_uri[] state[0] code.challenge code_challenge_method_2`),
    " state",
    "state ",
    "redirect uri",
    "request_uri[x][y]\n",
  ])("bar#ST-4 sees through %j", (name) => {
    expect(isReservedAuthorizationParameter(name)).toBe(true);
  });

  it.each(["client_key", "CLIENT_KEY", "client.key", "client_key[]", "appid"])(
    "bar#ST-4 reserves a vendor's %s",
    (name) => {
      const names = {
        parameterNames: { client_id: "client_key" },
        authorizationParameterNames: { client_id: "appId" },
      };
      expect(isReservedAuthorizationParameter(name, names)).toBe(true);
      expect(isReservedAuthorizationParameter(name)).toBe(false);
    },
  );

  it.each([
    ...words(`prompt login_hint access_type audience owner user_scope claims resource states x_state __proto__
      constructor`),
    "",
  ])("leaves %j to the caller", (name) => {
    expect(isReservedAuthorizationParameter(name)).toBe(false);
  });
});

describe("parseStringMap", () => {
  it("gives the members that were sent, and no inherited ones", () => {
    const map = parseStringMap('{"tenant":"acme","constructor":"x"}', "placeholders");
    expect(Object.entries(map)).toEqual([
      ["tenant", "acme"],
      ["constructor", "x"],
    ]);
    expect(Object.getPrototypeOf(map)).toBeNull();
    expect(map["toString"]).toBeUndefined();
  });

  it.each([
    "",
    "null",
    "1",
    '"x"',
    "[]",
    '["a"]',
    '{"a":1}',
    '{"a":null}',
    '{"a":{}}',
    '{"a":["x"]}',
    '{"a":true}',
    '{"a":"x","a":"y"}',
    '{"a":"x","\\u0061":"y"}',
    '{"__proto__":"x"}',
    '{"__proto__":{"polluted":"x"}}',
    "{",
    "{}}",
    '{"a":"x"',
    "a=1",
  ])("refuses %s as invalid_request", (json) => {
    expect(() => parseStringMap(json, "placeholders")).toThrow(
      expect.objectContaining({ code: "invalid_request", description: expect.stringMatching(/^placeholders /) }),
    );
  });

  it("refuses more than 64 members", () => {
    const many = (count: number): string =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, "x"])));
    expect(Object.keys(parseStringMap(many(64), "vendor_params"))).toHaveLength(64);
    expect(() => parseStringMap(many(65), "vendor_params")).toThrow(REFUSED);
  });

  it("throws nothing but OAuthError", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText(fc),
          fc.json(),
          fc.dictionary(fc.string(), fc.string()).map((map) => JSON.stringify(map)),
        ),
        (text) => {
          expect(accepts(() => parseStringMap(text, "placeholders"))).toBeTypeOf("boolean");
        },
      ),
      RUNS,
    );
  });
});
