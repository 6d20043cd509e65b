import { describe, expect, it } from "vitest";
import { expandTemplate, fillsRegistrableDomain, placeholderNames, requireKnownPlaceholders } from "./placeholders.ts";

const REFUSED = expect.objectContaining({ code: "invalid_request", status: 400 });
const OKTA = "https://{subdomain}.okta.com/oauth2/{auth_server}/v1/authorize";

describe("expandTemplate", () => {
  it.each([
    [OKTA, { subdomain: "acme", auth_server: "default" }, "https://acme.okta.com/oauth2/default/v1/authorize"],
    ["https://ca-{env}.adyen.com/x", { env: "live" }, "https://ca-live.adyen.com/x"],
    ["https://{a}.{b}.vendor.example/{a}/{b}", { a: "x", b: "y-1" }, "https://x.y-1.vendor.example/x/y-1"],
    [
      "https://login.vendor.example/{tenant}/v2",
      { tenant: "contoso.com" },
      "https://login.vendor.example/contoso.com/v2",
    ],
    ["https://v.example/{id}", { id: "Default-72f988bf_~." }, "https://v.example/Default-72f988bf_~."],
    ["https://v.example/a?x={q}&y=1", { q: "a b&c=d/é?#" }, "https://v.example/a?x=a%20b%26c%3Dd%2F%C3%A9%3F%23&y=1"],
    ["http://127.0.0.1:8080/{tenant}/authorize", { tenant: "acme" }, "http://127.0.0.1:8080/acme/authorize"],
    ["http://[::1]:8080/{tenant}", { tenant: "acme" }, "http://[::1]:8080/acme"],
    ["https://{x}.vendor.example", { x: "a" }, "https://a.vendor.example"],
    ["https://{x}.Vendor.example/", { x: "a" }, "https://a.Vendor.example/"],
  ])("fills %s", (template, values, expected) => {
    expect(expandTemplate(template, values, {})).toBe(expected);
  });

  it("fills as much as a place can hold, and not more", () => {
    const fits = (template: string, x: string, kind: "label" | "host" = "label"): boolean => {
      try {
        return expandTemplate(template, { x }, kind === "host" ? { x: { kind } } : {}).includes(x);
      } catch {
        return false;
      }
    };
    const host = (length: number): string => `${"a.".repeat(length / 2 - 2)}${"b".repeat(4 + (length % 2))}`;
    expect([63, 64].map((length) => fits("https://{x}.v.example/", "a".repeat(length)))).toEqual([true, false]);
    expect([61, 62].map((length) => fits("https://a-{x}.v.example/", "a".repeat(length)))).toEqual([true, false]);
    expect([252, 253, 254].map((length) => host(length).length)).toEqual([252, 253, 254]);
    expect([252, 253, 254].map((length) => fits("https://{x}/", host(length), "host"))).toEqual([true, true, false]);
    expect([243, 244].map((length) => fits("https://{x}.v.example/", host(length), "host"))).toEqual([true, false]);
    expect([255, 256].map((length) => fits("https://v.example/{x}", "a".repeat(length)))).toEqual([true, false]);
    expect([1024, 1025].map((length) => fits("https://v.example/?x={x}", "a".repeat(length)))).toEqual([true, false]);
    expect(fits("https://v.example/{x}/", "...")).toBe(true);
  });

  it("takes names of up to 64 characters", () => {
    const name = "n".repeat(64);
    expect(expandTemplate(`https://v.example/{${name}}`, { [name]: "x" }, {})).toBe("https://v.example/x");
    expect(() => placeholderNames(`https://v.example/{${name}n}`)).toThrow(REFUSED);
  });

  it("gives a template without placeholders back as it is", () => {
    expect(expandTemplate("https://v.example/%7Ex?a=1#b", { unused: "x" }, {})).toBe("https://v.example/%7Ex?a=1#b");
  });

  it("takes the default for an absent or empty value", () => {
    const specs = { tenant: { default: "common" } };
    const template = "https://v.example/{tenant}/authorize";
    for (const values of [{}, { tenant: "" }])
      expect(expandTemplate(template, values, specs)).toBe("https://v.example/common/authorize");
    expect(expandTemplate(template, { tenant: "acme" }, specs)).toBe("https://v.example/acme/authorize");
  });

  it.each(["constructor", "toString", "subdomain", "a"])("names the placeholder %s that has no value", (name) => {
    for (const values of [{}, { [name]: "" }, { other: "x" }]) {
      expect(() => expandTemplate(`https://{${name}}.vendor.example/`, values, {})).toThrow(
        expect.objectContaining({ code: "invalid_request", description: `placeholder ${name} is missing` }),
      );
    }
  });

  it("checks pattern, list and kind on top of the place, never instead of it", () => {
    const template = "https://{x}.vendor.example/a";
    const expand = (x: string, spec: object): string => expandTemplate(template, { x }, { x: spec });
    expect(expand("eu1", { pattern: "eu[0-9]" })).toBe("https://eu1.vendor.example/a");
    expect(() => expand("us1", { pattern: "eu[0-9]" })).toThrow(REFUSED);
    expect(() => expand("eu1x", { pattern: "eu[0-9]" })).toThrow(REFUSED);
    expect(() => expand("xeu1", { pattern: "eu[0-9]|us" })).toThrow(REFUSED);
    expect(expand("eu", { values: ["eu", "us"] })).toBe("https://eu.vendor.example/a");
    expect(() => expand("jp", { values: ["eu", "us"] })).toThrow(REFUSED);
    expect(() => expand("a.b", { kind: "segment" })).toThrow(REFUSED);
    expect(() => expandTemplate("https://v.example/{x}", { x: "a.b" }, { x: { kind: "label" } })).toThrow(REFUSED);
    expect(
      expandTemplate("https://accounts.zoho.{dc}/a", { dc: "com.au" }, { dc: { values: ["com", "com.au"] } }),
    ).toBe("https://accounts.zoho.com.au/a");
    expect(() => expandTemplate("https://v.example/{x}", { x: "a" }, { x: { pattern: "(" } })).toThrow(
      expect.objectContaining({ code: "server_error" }),
    );
  });
});

describe("a host whose end is pinned", () => {
  const OKTA_HOST = {
    okta_host: { kind: "host", suffix: [".okta.com", ".okta.mil"], pattern: "[a-z0-9-]+[.].*" },
  } as const;
  const WHOLE = "https://{okta_host}/oauth2/v1/token";

  it.each(["acme.okta.com", "acme.okta.mil"])("takes %s", (value) => {
    expect(expandTemplate(WHOLE, { okta_host: value }, OKTA_HOST)).toBe(`https://${value}/oauth2/v1/token`);
  });

  it.each(["okta.com", "evil.example", "acme.okta.com.evil.example", "evilokta.com", "a.okta.org"])(
    "refuses %s by the name of its placeholder",
    (value) => {
      expect(() => expandTemplate(WHOLE, { okta_host: value }, OKTA_HOST)).toThrow(
        expect.objectContaining({
          code: "invalid_request",
          description: expect.stringMatching(/^placeholder okta_host (leaves the vendor's domain|has a value)/),
        }),
      );
    },
  );

  it("says which domains those are", () => {
    expect(() => expandTemplate(WHOLE, { okta_host: "a.evil.example" }, OKTA_HOST)).toThrow(
      expect.objectContaining({
        description: "placeholder okta_host leaves the vendor's domain: .okta.com or .okta.mil",
      }),
    );
  });

  it("compares the host that was filled, also where the value is one label of it", () => {
    const specs = { x: { suffix: [".vendor.example"] } };
    expect(expandTemplate("https://{x}.vendor.example/", { x: "a" }, specs)).toBe("https://a.vendor.example/");
    expect(() => expandTemplate("https://{x}.other.example/", { x: "a" }, specs)).toThrow(REFUSED);
  });

  it("is not chosen by the value, unless anyone can register a name below that end", () => {
    expect(fillsRegistrableDomain(WHOLE, OKTA_HOST)).toBe(false);
    for (const end of [".com", ".co.uk", ".github.io", "okta.com", "."]) {
      const specs = { okta_host: { kind: "host", suffix: [".okta.com", end] } } as const;
      expect(fillsRegistrableDomain(WHOLE, specs), end).toBe(true);
    }
    expect(fillsRegistrableDomain(WHOLE, { okta_host: { kind: "host", suffix: [] } })).toBe(true);
  });
});

describe("a value that follows from another", () => {
  const HOSTS = { eu: "app.eu.vendor.example", us: "app.vendor.example" };
  const specs = {
    region: { values: ["eu", "us"], default: "us" },
    app_host: { follows: { placeholder: "region", values: HOSTS } },
    api_host: { follows: { placeholder: "region", values: { eu: "api.eu.vendor.example", us: "api.vendor.example" } } },
  };

  it("fills two hosts from one", () => {
    expect(expandTemplate("https://{app_host}/a", { region: "eu" }, specs)).toBe("https://app.eu.vendor.example/a");
    expect(expandTemplate("https://{api_host}/t", { region: "eu" }, specs)).toBe("https://api.eu.vendor.example/t");
    expect(expandTemplate("https://{api_host}/t", {}, specs)).toBe("https://api.vendor.example/t");
    expect(fillsRegistrableDomain("https://{app_host}/a", specs)).toBe(false);
  });

  it("is never the caller's, and names the placeholder that it follows from", () => {
    const values = { region: "eu", app_host: "evil.example" };
    expect(expandTemplate("https://{app_host}/a", values, specs)).toBe("https://app.eu.vendor.example/a");
    expect(() => requireKnownPlaceholders(values, ["https://{app_host}/a"], specs)).toThrow(
      expect.objectContaining({ description: "placeholder app_host is not one of this vendor" }),
    );
    for (const region of ["jp", "constructor", "evil.example"]) {
      expect(() => expandTemplate("https://{app_host}/a", { region }, specs)).toThrow(
        expect.objectContaining({ description: "placeholder region has a value that does not fit" }),
      );
    }
    expect(placeholderNames("https://{app_host}/{x}/{region}", specs)).toEqual(["region", "x"]);
  });
});

it("placeholderNames lists each name once, in order", () => {
  expect(placeholderNames("https://{b}.v.example/{a}/{b}?x={c-1}&y={c_2}")).toEqual(["b", "a", "c-1", "c_2"]);
  expect(placeholderNames("https://v.example/")).toEqual([]);
});

describe("requireKnownPlaceholders", () => {
  const templates = ["https://{a}.v.example/", "https://v.example/{b}"];

  it("accepts values that some template uses or some specification names", () => {
    expect(() => requireKnownPlaceholders({ a: "1", b: "2", c: "3" }, templates, { c: {} })).not.toThrow();
  });

  it("names a misspelt placeholder", () => {
    expect(() => requireKnownPlaceholders({ a: "1", bb: "2" }, templates, {})).toThrow(
      expect.objectContaining({ code: "invalid_request", description: "placeholder bb is not one of this vendor" }),
    );
  });

  it("does not repeat a text that is not a name", () => {
    expect(() => requireKnownPlaceholders({ "<script>": "1" }, templates, {})).toThrow(
      expect.objectContaining({ description: "placeholder is not one of this vendor" }),
    );
  });
});

describe("fillsRegistrableDomain", () => {
  it.each([
    "https://{host}/authorize",
    "https://{a}.{b}/",
    "https://{x}.com/",
    "https://{x}.co.uk/",
    "https://{x}.com.au/",
    "https://{x}.CO.UK/",
    "https://{x}.github.io/",
    "https://{x}.herokuapp.com/",
    "https://login-{x}.example/",
    "https://accounts.zoho.{dc}/",
    "https://api.{domain}/2.0/token",
    "https://a.{x}.com/",
    "https://a.b.{x}.workers.dev/",
    "https://{x}-evil.com/",
  ])("is true for %s", (template) => {
    expect(fillsRegistrableDomain(template)).toBe(true);
  });

  it.each([
    OKTA,
    "https://v.example/{tenant}",
    "https://v.example/",
    "https://login.v.example/?x={host}",
    "https://ca-{env}.adyen.com/",
    "https://{account}.app.netsuite.com/",
    "https://{x}.{y}.v.example/",
    "https://{x}.login.example.co.uk/",
    "https://{x}.box.io/",
    "http://127.0.0.1:8080/{tenant}",
  ])("is false for %s", (template) => {
    expect(fillsRegistrableDomain(template)).toBe(false);
  });

  it("is false where the only values are listed, but not for their neighbour", () => {
    const specs = { dc: { values: ["com", "eu"] } };
    expect(fillsRegistrableDomain("https://accounts.zoho.{dc}/", specs)).toBe(false);
    expect(fillsRegistrableDomain("https://{x}.{dc}/", specs)).toBe(true);
    expect(fillsRegistrableDomain("https://{x}.zoho.{dc}/", specs)).toBe(false);
    expect(fillsRegistrableDomain("https://{host}/", { host: { pattern: "[a-z.]+" } })).toBe(true);
  });
});
