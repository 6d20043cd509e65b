import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder, volume } from "@oauth-broker/oauth-core/testing";
import { expect, it, onTestFinished } from "vitest";
import { FIRST_CLASS_PATH, renderFirstClass } from "./first-class.ts";
import { checkBoundaries } from "./boundaries.ts";
import { copyRepository } from "../mutate/working-copy.ts";
import { readEntries, readSources, readTexts, ROOT } from "../sources.ts";
import { checkVendorNames } from "./vendor-names.ts";

const run = promisify(execFile);

const NEW_VENDOR = `/** Made up; facts of today. */
import type { RegistryEntry } from "../entry/registry-entry.ts";
import { defineVendor } from "../vendor.ts";

export const acmeForms: RegistryEntry = {
  vendor: defineVendor({
    id: "acme-forms",
    name: "Acme Forms",
    authorizationEndpoint: "https://forms.acme.example/authorize",
    tokenEndpoint: "https://forms.acme.example/token",
    scopeSeparator: ",",
    parameterNames: { client_id: "client_key" },
  }),
  placeholders: {},
  setup: "none",
  byoc: true,
  verification: { status: "first-class", checkedOn: "2026-11-21", sources: ["https://acme.example/docs", "https://acme.example/api"] },
};
`;

/** What a broker does with a vendor of the registry, in a process that sees only the copy. */
const CONNECT = `
import { REGISTRY } from "./packages/oauth-core/src/registry/registry.ts";
import { authorizationUrl } from "./packages/oauth-core/src/vendor-client/authorization/url.ts";
const { vendor } = REGISTRY.get("acme-forms");
const url = authorizationUrl({ ...vendor, issExpected: false }, {
  clientId: "ours", redirectUri: "https://broker.example/v1/callback", state: "s", scope: ["a", "b"], codeChallenge: "c",
});
process.stdout.write(JSON.stringify({ ids: [...REGISTRY.keys()].slice(0, 2), url }));
`;

// Makes every generated page of a copy of the repository, which takes as long as `npm run docs`.
const COMMANDS = volume<readonly string[]>({ test: [], soak: ["the command"] });
it.each(COMMANDS)(
  "a first-class vendor is one file: %s makes the rest, and the vendor can be connected",
  async () => {
    const { root: copy, read, write, remove } = copyRepository(ROOT);
    onTestFinished(remove);
    const file = "packages/oauth-core/src/registry/first-class/acme-forms.ts";
    write(file, NEW_VENDOR);
    await run(process.execPath, ["tooling/src/main.ts", "write"], { cwd: copy });

    const everything = ["**/*.{ts,json,md,yaml,tf}"];
    const before = readTexts(everything);
    const changed = [...readTexts(everything, copy)].flatMap(([path, text]) =>
      before.get(path) === text ? [] : [path],
    );
    expect(changed).toEqual(expect.arrayContaining(["docs/vendors.md", file, FIRST_CLASS_PATH]));
    for (const path of changed.filter((path) => path !== file)) {
      // JSON has it on its second line, as a member.
      const start = read(path).split("\n").slice(0, 2).join();
      expect(start, path).toContain("Generated. Remake: npm run docs");
    }
    expect(read("docs/vendors.md")).toContain("### Acme Forms (`acme-forms`)");
    const sources = readSources(["packages/oauth-core/src/**/*.ts"], copy);
    const complaints = [...checkBoundaries(sources, readEntries(copy)), ...checkVendorNames(sources)];
    expect(complaints.filter(({ path, message }) => `${path} ${message}`.includes("acme"))).toEqual([]);

    write("connect.ts", CONNECT);
    const { stdout } = await run(process.execPath, ["connect.ts"], { cwd: copy });
    const { ids, url } = JSON.parse(stdout) as { ids: string[]; url: string };
    expect(ids[0]).toBe("acme-forms");
    expect(url).toContain("https://forms.acme.example/authorize?response_type=code&client_key=ours&");
    expect(url).toContain("scope=a%2Cb&state=s&code_challenge=c&code_challenge_method=S256");
  },
  300_000,
);

it("a vendor's file that exports its entry under another name is refused, not left out", () => {
  const root = temporaryFolder();
  const folder = join(root, dirname(FIRST_CLASS_PATH));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "acme-forms.ts"), NEW_VENDOR.replace("acmeForms", "acme"));
  expect(() => renderFirstClass(root)).toThrow("acme-forms.ts must export exactly one RegistryEntry, named acmeForms");
  writeFileSync(join(folder, "acme-forms.ts"), NEW_VENDOR);
  writeFileSync(join(folder, "acme-forms.test.ts"), NEW_VENDOR);
  writeFileSync(join(folder, "dialect.ts"), "export const nothing = 1;\n");
  expect(renderFirstClass(root)).toContain("= [\n  acmeForms,\n];");
});
