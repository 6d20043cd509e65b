// The bill of materials of one tarball, as CycloneDX: what pnpm has locked below the package, or,
// for a package that is a bundle, what the bundle contains. Used by scripts/release.mjs.
import { Version } from "@cyclonedx/cyclonedx-library/Spec";
import { JsonStrictValidator } from "@cyclonedx/cyclonedx-library/Validation";
import semver from "semver";

/** What pnpm is asked for (`--sbom-spec-version`), and what the result is validated against. */
export const SPECIFICATION = "1.6";
const validator = new JsonStrictValidator(Version.v1dot6);

/** `@clack/prompts`, 1.9.0 → `pkg:npm/%40clack/prompts@1.9.0` */
const packageUrl = (name, version) => `pkg:npm/${name.replace("@", "%40")}@${version}`;

/**
 * @param files path → text of the JavaScript in the tarball; rolldown writes above each part of a
 *   bundle which file it comes from
 * @param own version of the packages of this repository, which lie beside each other
 * @returns the package URLs of what is bundled, and of what is in the tarball as a tarball; none
 *   for a package that is compiled file by file
 */
export function findContained(files, own) {
  const urls = [...files].flatMap(([path, text]) => {
    const packed = /(?:^|\/)packed\/([a-z-]+)\.tgz$/.exec(path);
    if (packed !== null) return [packageUrl(`@oauth-broker/${packed[1]}`, own)];
    return [...text.matchAll(/^\s*\/\/(?:#region)? (\.\.\/\S+)$/gm)].flatMap(([, source]) => {
      const installed = /node_modules\/\.pnpm\/((?:@[^+/]+\+)?[^@/]+)@([^/_(]+)/.exec(source);
      if (installed !== null) return [packageUrl(installed[1].replace("+", "/"), installed[2])];
      const sibling = /^(?:\.\.|\.\.\/\.\.\/packages)\/([a-z-]+)\/src\//.exec(source);
      return sibling === null ? [] : [packageUrl(`@oauth-broker/${sibling[1]}`, own)];
    });
  });
  return [...new Set(urls)].sort();
}

/** The bill of a bundle: of everything installed to build it, only what it contains. */
export function keepOnly(bom, urls) {
  const kept = new Set([bom.metadata.component["bom-ref"], ...urls]);
  const [own] = kept;
  return {
    ...bom,
    components: bom.components.filter(({ purl }) => kept.has(purl)),
    dependencies: bom.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn = [] }) => ({
        ref,
        dependsOn: ref === own ? [...urls] : dependsOn.filter((one) => kept.has(one)),
      })),
  };
}

/** @returns the version that the bill lists of a range; without one the range, which it then lacks */
function lockedVersion(listed, name, range) {
  const versions = [...listed]
    .filter((url) => url?.startsWith(packageUrl(name, "")))
    .map((url) => url.split("@").at(-1));
  return versions.find((version) => semver.satisfies(version, range)) ?? range;
}

/**
 * @param manifest the package.json in the tarball
 * @param contained as findContained returns it
 * @returns what is wrong with its bill, one sentence each
 */
export async function findSbomProblems(bom, manifest, contained) {
  const problems = (await validator.validate(JSON.stringify(bom))) ?? [];
  const listed = new Set((bom.components ?? []).map(({ purl }) => purl));
  const expected = Object.entries(manifest.dependencies ?? {}).map(([name, range]) =>
    packageUrl(name, lockedVersion(listed, name, range)),
  );
  const own = bom.metadata?.component?.purl;
  const isBlind = expected.length === 0 && contained.every((url) => url.startsWith("pkg:npm/%40oauth-broker/"));
  return [
    ...(isBlind ? ["the package depends on nothing, and no comment says what is bundled"] : []),
    ...problems.map(({ instancePath, message }) => `${instancePath} ${message}`),
    ...(own === packageUrl(manifest.name, manifest.version) ? [] : [`it is of ${own}`]),
    ...[...expected, ...contained].filter((url) => !listed.has(url)).map((url) => `it lacks ${url}`),
  ];
}

/** @returns the bill with the tarball's own hash, so that it says which one it describes */
export function withHash(bom, sha512) {
  const component = { ...bom.metadata.component, hashes: [{ alg: "SHA-512", content: sha512 }] };
  return { ...bom, metadata: { ...bom.metadata, component } };
}
