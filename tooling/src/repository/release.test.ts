/** What `npm run release` refuses before it builds anything, and what it says is in a tarball. */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { isPublished, orderPackages, readChanges, requireCleanTree } from "../../../scripts/release.mjs";
import { findContained, findSbomProblems, keepOnly, withHash } from "../../../scripts/sbom.mjs";
import { ROOT } from "../sources.ts";

const readJson = (path: string): Readonly<Record<string, unknown>> =>
  JSON.parse(readFileSync(join(ROOT, path), "utf8")) as Record<string, unknown>;

describe("a release", () => {
  it("is refused while a file is changed or not committed", () => {
    const folder = temporaryFolder();
    const git = (...args: string[]) =>
      spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: folder });
    git("init", "--quiet");
    git("commit", "--quiet", "--allow-empty", "-m", "empty");
    expect(() => requireCleanTree(folder)).not.toThrow();
    writeFileSync(join(folder, "new.txt"), "");
    expect(() => requireCleanTree(folder)).toThrow("?? new.txt");
  });

  it("publishes each package after those it needs, and nothing that is private", () => {
    const packages = [
      { name: "scaffold", version: "1.0.0", devDependencies: { server: "workspace:*" } },
      { name: "server", version: "1.0.0", dependencies: { core: "workspace:*", hono: "4.0.0" } },
      { name: "core", version: "1.0.0" },
      { name: "app", version: "0.0.0", private: true, dependencies: { core: "workspace:*" } },
    ];
    expect(orderPackages(packages).map(({ name }) => name)).toEqual(["core", "server", "scaffold"]);
    expect(() => orderPackages([...packages, { name: "other", version: "1.0.1" }])).toThrow("1.0.0 and 1.0.1");
    expect(() =>
      orderPackages([
        { name: "a", version: "1.0.0", dependencies: { b: "*" } },
        { name: "b", version: "1.0.0", dependencies: { a: "*" } },
      ]),
    ).toThrow("depend on each other: a, b");
  });

  it("has a version above every published one, pre-releases among them", () => {
    const one = { name: "core", version: "0.10.0" };
    expect(isPublished(one, [])).toBe(false);
    expect(isPublished(one, ["0.9.0", "0.10.0-rc.1"])).toBe(false);
    expect(isPublished(one, ["0.9.0", "0.10.0"])).toBe(true);
    expect(() => isPublished(one, ["0.9.0", "0.11.0-rc.0"])).toThrow("core 0.10.0 is not above 0.11.0-rc.0");
    expect(() => isPublished({ ...one, version: "0.10.0-rc.0" }, ["0.10.0"])).toThrow("is not above 0.10.0");
  });

  it("is in the changelog, under its own version and with text", () => {
    const changelog =
      "# core\n\n## 0.10.0\n\n### Minor Changes\n\n- One thing.\n\n## 0.1.0\n\n- Another.\n\n## 0.0.9\n\n";
    expect(readChanges({ name: "core", version: "0.10.0" }, changelog)).toBe("### Minor Changes\n\n- One thing.");
    expect(readChanges({ name: "core", version: "0.1.0" }, changelog)).toBe("- Another.");
    for (const version of ["0.1", "0.2.0", "0.0.9"]) {
      expect(() => readChanges({ name: "core", version }, changelog)).toThrow(`core says nothing of ${version}`);
    }
  });

  it("bumps all packages that are published together, and only those", () => {
    const published = globSync("packages/*/package.json", { cwd: ROOT })
      .map(readJson)
      .filter((manifest) => manifest["private"] !== true)
      .map(({ name }) => String(name).replace("@oauth-broker/", ""));
    const { fixed } = readJson(".changeset/config.json");
    expect(fixed).toEqual([[`@oauth-broker/{${published.sort().join(",")}}`]]);
  });
});

describe("the SBOM of a tarball", () => {
  const manifest = { name: "@oauth-broker/scaffold", version: "1.0.0", dependencies: { hono: "4.0.0" } };
  const component = (name: string, version: string) => ({
    type: "library",
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    "bom-ref": `pkg:npm/${name.replace("@", "%40")}@${version}`,
  });
  const own = component(manifest.name, manifest.version);
  const bom = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: own },
    components: [component("hono", "4.0.0"), component("vitest", "5.0.0")],
    dependencies: [
      { ref: own.purl, dependsOn: ["pkg:npm/hono@4.0.0", "pkg:npm/vitest@5.0.0"] },
      { ref: "pkg:npm/hono@4.0.0" },
      { ref: "pkg:npm/vitest@5.0.0" },
    ],
  };

  it("is valid CycloneDX, of this tarball, with everything that is installed along with it", async () => {
    expect(await findSbomProblems(withHash(bom, "ab".repeat(64)), manifest, [])).toEqual([]);
    expect(await findSbomProblems({ ...bom, components: [] }, manifest, [])).toEqual(["it lacks pkg:npm/hono@4.0.0"]);
    expect(await findSbomProblems(bom, { ...manifest, version: "1.0.1" }, [])).toEqual([`it is of ${own.purl}`]);
    const range = (version: string) => ({ ...manifest, dependencies: { hono: version } });
    expect(await findSbomProblems(bom, range("^4.0.0"), [])).toEqual([]);
    expect(await findSbomProblems(bom, range("^4.1.0"), [])).toEqual(["it lacks pkg:npm/hono@^4.1.0"]);
    const wrong = { ...bom, components: [{ ...component("hono", "4.0.0"), type: "libary" }] };
    expect(await findSbomProblems(wrong, manifest, [])).toEqual([
      expect.stringMatching(/^\/components\/0\/type must be/),
    ]);
    expect(await findSbomProblems(withHash(bom, "not a hash"), manifest, [])).not.toEqual([]);
  });

  it("of a bundle has what the bundle contains, and nothing else that was installed to build it", async () => {
    const files = [
      [
        "package/dist/main.js",
        "// ../../node_modules/.pnpm/hono@4.0.0/node_modules/hono/dist/index.js\nx();\n//#region ../../node_modules/.pnpm/@clack+core@1.6.0_x@2.0.0/node_modules/@clack/core/a.js\n// ../oauth-core/src/index.ts\n",
      ],
      ["package/dist/materials/packed/mcp-auth.tgz", ""],
      // As in the bundle of an app.
      ["broker.js", "//#region ../../packages/service/src/index.ts\n"],
    ] as const;
    const contained = findContained(files, "1.0.0");
    expect(contained).toEqual([
      "pkg:npm/%40clack/core@1.6.0",
      "pkg:npm/%40oauth-broker/mcp-auth@1.0.0",
      "pkg:npm/%40oauth-broker/oauth-core@1.0.0",
      "pkg:npm/%40oauth-broker/service@1.0.0",
      "pkg:npm/hono@4.0.0",
    ]);
    const bundle = keepOnly(bom, ["pkg:npm/hono@4.0.0"]);
    expect(bundle.components).toEqual([component("hono", "4.0.0")]);
    expect(bundle.dependencies).toEqual([
      { ref: own.purl, dependsOn: ["pkg:npm/hono@4.0.0"] },
      { ref: "pkg:npm/hono@4.0.0", dependsOn: [] },
    ]);
    expect(await findSbomProblems(bundle, { ...manifest, dependencies: {} }, contained)).toHaveLength(4);
    expect(await findSbomProblems(bundle, { ...manifest, dependencies: {} }, [])).toEqual([
      expect.stringContaining("no comment says"),
    ]);
  });
});
