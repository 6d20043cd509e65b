import { fillsRegistrableDomain, type PlaceholderSpecs } from "@oauth-broker/oauth-core/protocol";
import { describe, expect, it } from "vitest";
import type { VendorConfig } from "../../config.ts";
import { load, MINIMAL, problemsOf, registryOf } from "../testing/config-file.ts";

const TOKEN = "https://{host}/token";
const PLACEHOLDERS: PlaceholderSpecs = {
  host: { kind: "host", suffix: [".vendor.example"] },
  region: { values: ["eu", "us"], default: "us" },
  api_host: { follows: { placeholder: "region", values: { eu: "eu.vendor.example", us: "us.vendor.example" } } },
};
const registry = registryOf(
  { id: "pinned", authorizationEndpoint: "https://{api_host}/authorize", tokenEndpoint: TOKEN },
  { placeholders: PLACEHOLDERS },
);
const CONTRADICTS = "contradicts the registry, which pins the hosts of this vendor";

const specsWith = (fields: object): VendorConfig["placeholders"] =>
  load({ ...MINIMAL, vendors: { pinned: fields } }, { registry }).vendors.get("pinned")?.placeholders ?? {};
const problems = (fields: object): string[] => problemsOf({ vendors: { pinned: fields } }, { registry });

describe("an operator's placeholders of a vendor whose hosts the registry pins", () => {
  it("may narrow the values, and set a default among them", () => {
    const specs = specsWith({
      placeholders: {
        host: { pattern: "acme[.].*", default: "acme.vendor.example" },
        region: { values: ["eu"], default: "eu" },
      },
    });
    expect(specs).toEqual({
      host: { kind: "host", suffix: [".vendor.example"], pattern: "acme[.].*", default: "acme.vendor.example" },
      region: { values: ["eu"], default: "eu" },
      api_host: PLACEHOLDERS["api_host"],
    });
  });

  it("stay pinned, so that the operator's credentials go to the vendor's own hosts alone", () => {
    for (const host of [{ kind: "host" }, { kind: "host", suffix: [".com"] }, {}]) {
      const specs = specsWith({ placeholders: { host } });
      expect(specs["host"]).toEqual(PLACEHOLDERS["host"]);
      expect(fillsRegistrableDomain(TOKEN, specs)).toBe(false);
    }
  });

  it.each<[string, object]>([
    ["host", { values: ["a.vendor.example", "evil.example"] }],
    ["host", { default: "evil.example" }],
    ["region", { values: ["eu", "jp"] }],
    ["region", { default: "jp" }],
    ["api_host", { values: ["evil.example"] }],
    ["api_host", {}],
  ])("are refused by their name where they contradict it: %s %j", (name, spec) => {
    expect(problems({ placeholders: { [name]: spec } })).toContain(
      `vendors.pinned.placeholders.${name} ${CONTRADICTS}`,
    );
  });

  it("are the operator's own where both endpoints are", () => {
    const own = { authorization_endpoint: "https://{host}/a", token_endpoint: "https://{host}/t" };
    const specs = specsWith({ ...own, placeholders: { host: { values: ["login.acme.example"] } } });
    expect(specs["host"]).toEqual({ values: ["login.acme.example"] });
  });

  it("have ends with a leading dot", () => {
    expect(problems({ placeholders: { host: { suffix: ["vendor.example"] } } })).toEqual([
      "vendors.pinned.placeholders.host.suffix[0] must be labels in lower case, a dot before each",
    ]);
  });
});
