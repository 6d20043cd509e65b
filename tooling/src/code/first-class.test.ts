import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { volume } from "@oauth-broker/oauth-core/testing";
import { afterEach, expect, it } from "vitest";
import { FIRST_CLASS_PATH, renderFirstClass } from "./first-class.ts";
import { checkBoundaries } from "./boundaries.ts";
import { readEntries, readSources, ROOT } from "../sources.ts";
import { checkVendorNames } from "./vendor-names.ts";

const run = promisify(execFile);
const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "first-class-"));
  folders.push(folder);
  return folder;
}

/** The repository without what is built, installed or left over. */
function copyOfRepository(): string {
  const copy = temporaryFolder();
  const files = globSync(
    [
      "packages/*/{src/**/*,package.json}",
      "apps/*/{src/**/*,package.json,README.md}",
      "e2e/**/*.ts",
      "tooling/{src/**/*,package.json}",
      "docs/**/*",
    ],
    {
      cwd: ROOT,
      withFileTypes: true,
      exclude: (entry) => /^(node_modules|dist|results)$/.test(entry.name),
    },
  );
  for (const file of files) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name).slice(ROOT.length);
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(ROOT, path), join(copy, path));
  }
  for (const modules of globSync(["node_modules", "tooling/node_modules", "{packages,apps}/*/node_modules"], {
    cwd: ROOT,
  })) {
    symlinkSync(join(ROOT, modules), join(copy, modules));
  }
  writeFileSync(join(copy, "package.json"), '{ "type": "module" }');
  return copy;
}

function hashes(folder: string): Map<string, string> {
  const paths = globSync("{packages,apps,e2e,tooling,docs}/**/*", {
    cwd: folder,
    withFileTypes: true,
    exclude: (entry) => entry.name === "node_modules",
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    paths.map((path) => [path.slice(folder.length + 1), createHash("sha256").update(readFileSync(path)).digest("hex")]),
  );
}

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
    const copy = copyOfRepository();
    const before = hashes(copy);
    const file = "packages/oauth-core/src/registry/first-class/acme-forms.ts";
    writeFileSync(join(copy, file), NEW_VENDOR);
    await run(process.execPath, ["tooling/src/main.ts", "write"], { cwd: copy });

    const changed = [...hashes(copy)].filter(([path, hash]) => before.get(path) !== hash).map(([path]) => path);
    expect(changed).toEqual(expect.arrayContaining(["docs/vendors.md", file, FIRST_CLASS_PATH]));
    for (const path of changed.filter((path) => path !== file)) {
      // JSON has it on its second line, as a member.
      const start = readFileSync(join(copy, path), "utf8").split("\n").slice(0, 2).join();
      expect(start, path).toContain("Generated. Remake: npm run docs");
    }
    expect(readFileSync(join(copy, "docs/vendors.md"), "utf8")).toContain("### Acme Forms (`acme-forms`)");
    const sources = readSources(["packages/oauth-core/src/**/*.ts"], copy);
    const complaints = [...checkBoundaries(sources, readEntries(copy)), ...checkVendorNames(sources)];
    expect(complaints.filter(({ path, message }) => `${path} ${message}`.includes("acme"))).toEqual([]);

    writeFileSync(join(copy, "connect.ts"), CONNECT);
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
