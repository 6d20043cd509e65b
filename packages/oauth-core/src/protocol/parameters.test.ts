import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accepts } from "../testing/accepts.ts";
import { parseParameters } from "./parameters.ts";
import { anyText } from "../testing/any-text.ts";
import { words } from "../testing/corpora/words.ts";

const RUNS = { seed: 1, numRuns: 200 };
const REFUSED = expect.objectContaining({ code: "invalid_request", status: 400 });

describe("parseParameters", () => {
  it("reads names and values, spaces and UTF-8", () => {
    const parameters = parseParameters("scope=repo+read%3Auser&state=%C3%A9%2B%26&vendor=github&raw=a b:/?");
    expect(parameters.names()).toEqual(["scope", "state", "vendor", "raw"]);
    expect(parameters.get("scope")).toBe("repo read:user");
    expect(parameters.get("state")).toBe("é+&");
    expect(parameters.get("raw")).toBe("a b:/?");
    expect(parameters.get("absent")).toBeUndefined();
  });

  it("reads what any form encoder writes", () => {
    const text = fc.string({ unit: "grapheme" }).filter((value) => !/[\0\r\n]/.test(value));
    const name = text.filter((value) => value !== "error_description");
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(name, text), { selector: ([key]) => key, maxLength: 10 }), (pairs) => {
        const parameters = parseParameters(new URLSearchParams(pairs).toString());
        for (const [key, value] of pairs) expect(parameters.sent(key)).toBe(value);
        expect(parameters.names()).toEqual(pairs.filter(([, value]) => value !== "").map(([key]) => key));
      }),
      RUNS,
    );
  });

  it("rfc6749#3.2 takes a parameter without a value as omitted", () => {
    for (const encoded of ["scope=", "scope", "scope=&vendor=x", "&&scope&"]) {
      const parameters = parseParameters(encoded);
      expect(parameters.get("scope")).toBeUndefined();
      expect(parameters.has("scope")).toBe(false);
      expect(parameters.names()).not.toContain("scope");
      expect(() => parameters.require("scope")).toThrow(REFUSED);
    }
  });

  it("can still distinguish an empty value from an absent one", () => {
    const parameters = parseParameters("iss=&code=x");
    expect([parameters.sent("iss"), parameters.sent("code"), parameters.sent("state")]).toEqual(["", "x", undefined]);
  });

  it("names a missing parameter", () => {
    expect(parseParameters("code=x").require("code")).toBe("x");
    expect(() => parseParameters("code=x").require("code_verifier")).toThrow(
      expect.objectContaining({ description: "code_verifier is missing" }),
    );
  });

  it.each(
    words(`state=a&state=a state=a&state=b state=&state= state=&state=a state&state=a state=a&%73tate=a
    st+ate=1&st%20ate=2 __proto__=1&__proto__=2 a=1&b=2&a=3 error_description=a&error_description=b`),
  )("rfc6749#3.1 refuses %s, where a parameter is repeated", (encoded) => {
    expect(() => parseParameters(encoded)).toThrow(REFUSED);
  });

  it.each([
    ["state=1&state=2", "state is given more than once"],
    ["canary=1&canary=2", "A parameter is given more than once"],
    ["vendor_client_secret=a%0Ab", "vendor_client_secret has a line break or a NUL"],
    ["canary=%0A", "A parameter has a line break or a NUL"],
    ["canary%0A=", "A parameter has a line break or a NUL"],
  ])("says which parameter is wrong only where the name is the protocol's: %s", (encoded, description) => {
    expect(() => parseParameters(encoded)).toThrow(expect.objectContaining({ description, detail: undefined }));
  });

  it.each(
    words(`__proto__ constructor prototype toString hasOwnProperty a.b a.__proto__.b __proto__.polluted
    constructor.prototype.polluted a[] a[b] __proto__[polluted] then`),
  )("bar#HT-3 takes %s as a name like any other and changes no prototype", (name) => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    const parameters = parseParameters(`${encodeURIComponent(name)}=x&other=y`);
    expect(parameters.get(name)).toBe("x");
    expect(parameters.names()).toEqual([name, "other"]);
    expect(parseParameters("other=y").get(name)).toBeUndefined();
    expect(parseParameters("other=y").has(name)).toBe(false);
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each(words(`% %0 %zz a% %E0%A4 %C0%AF %c0%ae %ED%A0%80 %F8%88%80%80%80 %FF %u0041 %2 %%`))(
    "bar#HT-4 refuses the broken encoding %s in a value and in a name",
    (text) => {
      expect(() => parseParameters(`state=${text}`)).toThrow(REFUSED);
      expect(() => parseParameters(`${text}=state`)).toThrow(REFUSED);
    },
  );

  it.each([
    ...words(`%00 %0a %0d %0D%0A a%00b a%0d%0aSet-Cookie:x é`),
    "\0",
    "\n",
    "\r\n",
    "a\nb",
    "\t",
    "\x7f",
    "\u0000",
    "\ufeff",
    "\ud800",
  ])("bar#HT-4 refuses %j in a value and in a name", (text) => {
    expect(() => parseParameters(`state=${text}`)).toThrow(REFUSED);
    expect(() => parseParameters(`${text}=state`)).toThrow(REFUSED);
  });

  it.each([
    ["%0d%0aTrace+ID:%20x", " Trace ID: x"],
    ["AADSTS65004%3a+declined.%0d%0aTrace+ID", "AADSTS65004: declined. Trace ID"],
    ["a%00b", "a b"],
    ["%E9t%E9", ""],
    ["%", ""],
  ])("bar#CB-10 keeps an error readable whose error_description is %s", (encoded, text) => {
    const parameters = parseParameters(`error=access_denied&error_description=${encoded}&state=x`);
    expect(parameters.get("error")).toBe("access_denied");
    expect(parameters.sent("error_description")).toBe(text);
  });

  it("accepts 64 parameters and refuses 65", () => {
    const many = (count: number): string => Array.from({ length: count }, (_, index) => `p${index}=x`).join("&");
    expect(parseParameters(many(64)).names()).toHaveLength(64);
    expect(() => parseParameters(many(65))).toThrow(REFUSED);
    expect(parseParameters("&".repeat(10_000)).names()).toEqual([]);
  });

  it("throws nothing but OAuthError", () => {
    const token = fc.constantFrom("&", "=", "%", "+", "%00", "%C3", "%A9", "a", "state", "__proto__", "\n", ".");
    fc.assert(
      fc.property(
        fc.oneof(
          anyText(fc),
          fc.array(token).map((tokens) => tokens.join("")),
        ),
        (text) => {
          expect(accepts(() => parseParameters(text))).toBeTypeOf("boolean");
        },
      ),
      RUNS,
    );
  });
});
