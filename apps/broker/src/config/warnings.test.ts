import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../config.ts";
import { CLIENT, folderOf, load, MINIMAL, OWN_VENDOR, registryOf } from "./testing/config-file.ts";

const warningsOf = (fields: object): readonly string[] => load({ ...MINIMAL, ...fields }).warnings;
const vendorsWith = (fields: object): object => ({ vendors: { v: { ...OWN_VENDOR, ...fields } } });

describe("the way out", () => {
  const PROXY = "http://broker:p%40ss@proxy.internal:3128";

  it.each(["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NODE_USE_ENV_PROXY"])(
    "bar#EG-11 warns of %s, which is not read, and names the setting (h26)",
    (name) => {
      const env = { [name]: "http://canary:3128" };
      const { warnings } = load(MINIMAL, { env });
      expect(warnings).toEqual([
        `${name} is set and not read: calls to vendors go out without a proxy. Set egress.proxy for a proxy`,
      ]);
      expect(load({ ...MINIMAL, egress: { proxy: PROXY } }, { env }).warnings).toEqual([]);
    },
  );

  it("is a proxy where the file names one, by a variable or not, and is never shown", () => {
    for (const [proxy, env] of [
      [PROXY, {}],
      ["env:P", { P: `${PROXY}\n` }],
    ] as const) {
      const { egress } = load({ ...MINIMAL, egress: { proxy } }, { env });
      expect(egress.proxy?.reveal()).toBe(PROXY);
      expect(JSON.stringify(egress)).not.toContain("p%40ss");
    }
    expect(load({ ...MINIMAL, egress: { proxy: null } }).egress.proxy).toBeUndefined();
    for (const proxy of ["proxy.internal:3128", "socks5://canary:1080", "http://canary/x"]) {
      expect(() => load({ ...MINIMAL, egress: { proxy } })).toThrow(/egress\.proxy must be an http or https URL/);
      expect(() => load({ ...MINIMAL, egress: { proxy } })).not.toThrow(/canary/);
    }
  });
});

describe("what was relaxed is a warning", () => {
  it("a client that vouches for the browser itself", () => {
    expect(warningsOf({ clients: [{ ...CLIENT, browser_binding: "platform" }] })).toEqual([
      "Client platform has browser_binding platform: the broker does not check that the browser that started a flow finishes it, so the client must",
    ]);
    expect(warningsOf({ clients: [{ ...CLIENT, browser_binding: "required" }] })).toEqual([]);
  });

  it.each(["none", "plain"])("a vendor with pkce %s, each by its id", (pkce) => {
    const vendors = { v: { ...OWN_VENDOR, pkce }, w: { ...OWN_VENDOR, pkce }, x: { ...OWN_VENDOR, pkce: "S256" } };
    expect(warningsOf({ vendors })).toEqual(
      ["v", "w"].map((id) => expect.stringMatching(new RegExp(`^Vendor ${id} has pkce ${pkce}: `))),
    );
  });

  it("a vendor whose callbacks need no iss", () => {
    expect(warningsOf(vendorsWith({ iss_required: false }))).toEqual([
      "Vendor v has iss_required false: its callbacks are accepted without iss, so an answer of another vendor is harder to detect",
    ]);
    expect(warningsOf(vendorsWith({ iss_required: true }))).toEqual([]);
  });

  describe("an operator's vendor that shares the callback with another without iss", () => {
    const at = (origin: string, fields: object = {}): object => ({
      name: "Own",
      authorization_endpoint: `https://${origin}/authorize`,
      token_endpoint: `https://${origin}/token`,
      credentials: { client_id: origin, client_secret: "s" },
      ...fields,
    });
    const registry = new Map(["known", "other"].flatMap((id) => [...registryOf({ id })]));
    const warningsOf = (vendors: Record<string, object>): string[] =>
      load({ ...MINIMAL, vendors }, { registry }).warnings.map(
        (warning) =>
          /^Vendor (\S+) is one of your own and shares the callback with (.+), and their/
            .exec(warning)
            ?.slice(1)
            .join(": ") ?? warning,
      );
    const credentials = { client_id: "k", client_secret: "s" };
    const moved = { ...OWN_VENDOR, credentials };

    it.each<[string, Record<string, object>, string[]]>([
      ["beside one of the registry", { v: at("v.example"), known: { credentials } }, ["v: known"]],
      ["beside each other", { v: at("v.example"), w: at("w.example") }, ["v: w", "w: v"]],
      ["by its issuer", { v: { issuer: "https://v.example", credentials }, known: { credentials } }, ["v: known"]],
      ["a registry vendor whose endpoint the file moves", { known: moved, other: { credentials } }, ["known: other"]],
    ])("bar#XA-1 %s", (_, vendors, expected) => {
      expect(warningsOf(vendors)).toEqual(expected);
    });

    it.each<[string, Record<string, object>]>([
      ["one alone", { v: at("v.example") }],
      ["one whose answers must carry it", { v: at("v.example", { iss_required: true }), known: { credentials } }],
      ["beside one whose answers must", { v: at("v.example"), w: at("w.example", { iss_required: true }) }],
      ["beside another entry of the same vendor", { v: at("v.example"), w: at("v.example") }],
      ["vendors of the registry", { known: { credentials }, other: { credentials } }],
      ["without credentials of ours", { v: OWN_VENDOR, known: { credentials } }],
      ["beside one without", { v: at("v.example"), known: {} }],
      ["one that is off", { v: at("v.example", { enabled: false }), known: { credentials } }],
      ["one without new flows", { v: at("v.example", { accepts_new_authorizations: false }), known: { credentials } }],
    ])("does not warn about %s", (_, vendors) => {
      expect(warningsOf(vendors)).toEqual([]);
    });
  });

  describe("what a vendor ends on an announced day", () => {
    const endpoints = { authorizationEndpoint: "https://v.example/2/a", tokenEndpoint: "https://v.example/1/t" };
    const vendor = { id: "v", ...endpoints, userinfoEndpoint: "https://v.example/0/u" };
    const sunset = { endsOn: "2027-02-16", what: "an API", source: "https://v.example/news" };
    const at = (...urls: string[]) => ({ sunsets: [{ ...sunset, urls }] });
    const credentials = { client_id: "c", client_secret: "s" };
    const warningsAt = (entry: object, fields: object = { credentials }): readonly string[] =>
      load({ ...MINIMAL, vendors: { v: fields } }, { registry: registryOf(vendor, entry) }).warnings;
    const DAY = "Vendor v ends an API on 2027-02-16 (https://v.example/news): ";

    it.each<[string, object, string]>([
      [
        "an endpoint where flows start",
        at("https://v.example/1/"),
        "from then on the broker starts no new flow at https://v.example/1/t; refresh and revoke go on",
      ],
      ["another endpoint", at("https://v.example/0/"), "https://v.example/0/u is no longer there from then on"],
      ["tokens", { sunsets: [sunset] }, "connections that have such a token must be made anew"],
    ])("%s", (_, entry, expected) => {
      expect(warningsAt(entry)).toEqual([DAY + expected]);
    });

    it("as the registry knows it: HubSpot's first OAuth API, Shopify's tokens without expiry", () => {
      const vendors = {
        hubspot: { credentials, token_endpoint: "https://api.hubapi.com/oauth/v1/token" },
        shopify: { credentials },
      };
      expect(load({ ...MINIMAL, vendors }, { registry: REGISTRY }).warnings).toEqual(
        expect.arrayContaining([
          expect.stringMatching(
            /^Vendor hubspot ends .* on 2027-02-16 .*no new flow at \S+\/oauth\/v1\/token; refresh/,
          ),
          expect.stringMatching(/^Vendor shopify ends .* on 2027-01-01 .*must be made anew$/),
        ]),
      );
    });

    it("not where nothing of the entry ends, or the broker has no credentials, or it is off", () => {
      expect(warningsAt(at("https://v.example/3/"))).toEqual([]);
      expect(warningsAt(at("https://v.example/1/"), {})).toEqual([]);
      expect(warningsAt(at("https://v.example/1/"), { credentials, enabled: false })).toEqual([]);
    });
  });

  it.each([
    ["the key file beside the store", {}, "data/broker.sqlite.key"],
    ["the keys in a file of their own", { keys: "file:keys.json" }, "keys.json"],
    ["the key file of a store elsewhere", { store: "sqlite:b.db" }, "b.db.key"],
  ])("%s, when others can read or change it", (_, fields, file) => {
    const folder = folderOf({ "broker.yaml": JSON.stringify({ ...MINIMAL, ...fields }), [file]: "{}" });
    const path = join(folder, file);
    for (const mode of [0o640, 0o604, 0o620]) {
      chmodSync(path, mode);
      expect(loadConfig({}, folder).warnings).toEqual([
        `The keys in ${path} can be read or changed by others on this machine: chmod 600`,
      ]);
    }
    chmodSync(path, 0o600);
    expect(loadConfig({}, folder).warnings).toEqual([]);
  });

  it("no key file that is not used, or cannot be reached: the store says so when it opens it", () => {
    const folder = folderOf({
      "broker.yaml": JSON.stringify({ ...MINIMAL, keys: "file:keys.json" }),
      "data/broker.sqlite.key": "{}",
    });
    chmodSync(join(folder, "data/broker.sqlite.key"), 0o644);
    symlinkSync("keys.json", join(folder, "keys.json"));
    expect(loadConfig({}, folder).warnings).toEqual([]);
  });
});
