import { describe, expect, it } from "vitest";
import { parseSource, readSources } from "../sources.ts";
import { checkVendorNames } from "./vendor-names.ts";

const FOLDER = "packages/oauth-core/src/registry/first-class";
const VENDOR = parseSource(
  `${FOLDER}/linear.ts`,
  `export const linear = { vendor: defineVendor({ id: "linear", tokenEndpoint: "https://mcp.linear.app/token" }),
  verification: { sources: ["https://elsewhere.example/linear"] } };`,
);
const found = (path: string, code: string): unknown[] =>
  checkVendorNames([VENDOR, parseSource(path, code)]).map((violation) => violation.path);

describe("a vendor is named in its own file", () => {
  it.each([
    ["apps/broker/src/flows/a.ts", `if (vendor.id === "linear") skip();`],
    ["packages/oauth-core/src/vendor-client/a.ts", "const ODD = new Set(['linear']);"],
    ["packages/oauth-core/src/vendor-client/a.ts", `const url = "https://mcp.linear.app/";`],
    [`${FOLDER}/other.ts`, `export const twin = "linear";`],
    ["apps/broker/src/flows/a.ts", `const x = { example: "linear" };`],
  ])("and not in %s: %s", (path, code) => {
    expect(found(path, code)).toEqual([path]);
  });

  it.each([
    ["apps/broker/src/flows/a.ts", "// A linear scan is fine here.\nconst linear = 1;"],
    ["apps/broker/src/flows/a.ts", `const url = "https://elsewhere.example/";`],
    ["apps/broker/src/flows/a.test.ts", `const vendor = "linear";`],
    ["packages/simulators/src/vendors/linear.ts", `const host = "mcp.linear.app";`],
    ["apps/broker/src/config/schema/configuration.ts", `text({ type: "vendor id", example: "linear" })`],
    [`${FOLDER}/registry.ts`, `import { linear } from "./linear.ts";`],
  ])("which does not concern %s: %s", (path, code) => {
    expect(found(path, code)).toEqual([]);
  });

  it("by what the vendors of this repository are called", () => {
    const vendors = readSources([`${FOLDER}/*.ts`]);
    const named = parseSource("apps/broker/src/flows/a.ts", `const names = ["github", "slack", "notion"];`);
    expect(checkVendorNames([...vendors, named]).filter(({ path }) => path === named.path)).toHaveLength(3);
  });
});
