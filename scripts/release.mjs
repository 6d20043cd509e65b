// `npm run release -- --dry-run`: everything a release does up to publishing, in a fresh copy of the
// commit: version, changelog, tarballs, SBOMs, checksums, and what npm says to each tarball. Leaves
// them in dist/release. Without the option it publishes; only .github/workflows/release.yml does
// that, because npm signs the provenance with the identity of the workflow. See docs/releasing.md.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import semver from "semver";
import { root, run, shell } from "./run.mjs";
import { findContained, findSbomProblems, keepOnly, SPECIFICATION, withHash } from "./sbom.mjs";
import { refusal, runScript } from "./usage.mjs";

const target = join(root, "dist", "release");
/** Publishes with the identity of a workflow instead of a token. */
const TRUSTED_PUBLISHING_SINCE = "11.5.1";
/** scripts/bootstrap.mjs has npm prefer its cache, which may not know the newest version. */
const FRESH = ["--prefer-offline=false", "--prefer-online"];
/** npm waits a minute and more for a registry that does not answer. */
const SOON = ["--fetch-timeout=20000", "--fetch-retries=2", "--fetch-retry-mintimeout=1000"];

const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
const digest = (algorithm, path, encoding = "hex") => createHash(algorithm).update(readFileSync(path)).digest(encoding);
const say = (text) => console.log(text);

/** @returns stdout; throws Refusal with all output when the command fails */
const read = (cwd, command, ...args) => run(command, args, { cwd, stdio: "pipe" }).stdout;

/** @throws Refusal naming the files that are not as committed */
export function requireCleanTree(folder) {
  const changed = read(folder, "git", "status", "--porcelain").trimEnd();
  if (changed !== "") throw refusal(`A release is made from a commit. Commit or remove first:\n${changed}`);
}

/**
 * @returns the manifests of what is published, each after those it depends on
 * @throws Refusal when their versions differ
 */
export function orderPackages(manifests) {
  const rest = new Map(manifests.filter((one) => one.private !== true).map((one) => [one.name, one]));
  const versions = [...new Set([...rest.values()].map(({ version }) => version))];
  if (versions.length !== 1) throw refusal(`The packages have one version together, not ${versions.join(" and ")}.`);
  const ordered = [];
  while (rest.size > 0) {
    // What a package is built or scaffolds with comes first too.
    const isFree = ({ dependencies, devDependencies }) =>
      !Object.keys({ ...dependencies, ...devDependencies }).some((name) => rest.has(name));
    const free = [...rest.values()].filter(isFree);
    if (free.length === 0) throw refusal(`These packages depend on each other: ${[...rest.keys()].join(", ")}.`);
    for (const { name } of free) rest.delete(name);
    ordered.push(...free);
  }
  return ordered;
}

/**
 * @param published every version that the registry has; none for a package that is new there
 * @returns whether this version is among them, as after a release that was interrupted
 * @throws Refusal when it is not above all others
 */
export function isPublished({ name, version }, published) {
  if (published.includes(version)) return true;
  const newest = semver.rsort([...published])[0];
  if (newest === undefined || semver.gt(version, newest)) return false;
  throw refusal(`${name} ${version} is not above ${newest}, which is published.`);
}

/** @returns the changelog's text below `## VERSION`; throws Refusal when there is none */
export function readChanges({ name, version }, changelog) {
  const section = changelog.split(/^## /m).find((part) => part.startsWith(`${version}\n`));
  const text = section?.slice(version.length).trim() ?? "";
  if (text === "") throw refusal(`The changelog of ${name} says nothing of ${version}.`);
  return text;
}

/** @returns every published version; undefined when the registry gives no answer */
function askVersions({ name }) {
  const args = ["view", name, "versions", "--json", ...FRESH, ...SOON];
  const { stdout } = spawnSync("npm", args, { shell, encoding: "utf8" });
  try {
    const answer = JSON.parse(stdout);
    if (answer.error?.code === "E404") return [];
    return answer.error === undefined ? [answer].flat() : undefined;
  } catch {
    return undefined;
  }
}

/** @throws Refusal where the workflow's identity, its tag or a recent npm is missing */
function requireWorkflow(version) {
  if (process.env.ACTIONS_ID_TOKEN_REQUEST_URL === undefined) {
    throw refusal("Only .github/workflows/release.yml publishes. Here: npm run release -- --dry-run");
  }
  const npm = read(root, "npm", "--version").trim();
  if (semver.lt(npm, TRUSTED_PUBLISHING_SINCE)) {
    throw refusal(`npm ${npm} cannot publish without a token; ${TRUSTED_PUBLISHING_SINCE} can.`);
  }
  const tags = read(root, "git", "tag", "--points-at", "HEAD").split("\n");
  if (!tags.includes(`v${version}`)) throw refusal(`This commit does not have the tag v${version}.`);
}

/** The commit by itself, with its dependencies installed; changesets become a version in it. */
function makeCopy(copy, isDryRun) {
  read(root, "git", "clone", "--quiet", root, copy);
  read(copy, "node", "scripts/bootstrap.mjs", "true");
  const open = globSync(".changeset/*.md", { cwd: copy, exclude: (path) => path.endsWith("README.md") });
  if (open.length === 0) return;
  if (!isDryRun) throw refusal("Changesets are open: npm run release:version, commit, and move the tag.");
  read(copy, "node", "scripts/bootstrap.mjs", "changeset", "version");
  say(`${open.length} open ${open.length === 1 ? "changeset" : "changesets"} made a version in the copy.`);
}

/**
 * Writes the bill of materials of a file in dist/release beside it.
 *
 * @param manifest the package.json that is in the file; one without dependencies for a bundle
 * @returns how many components it lists
 */
async function writeBill(copy, folder, manifest, file, contained) {
  const bill = ["sbom", "--sbom-format", "cyclonedx", "--sbom-spec-version", SPECIFICATION, `--filter=./${folder}`];
  const onlyRuntime = contained.length === 0 ? ["--prod"] : [];
  const whole = JSON.parse(read(copy, "pnpm", ...bill, ...onlyRuntime));
  const bom = withHash(contained.length === 0 ? whole : keepOnly(whole, contained), digest("sha512", file));
  const problems = await findSbomProblems(bom, manifest, contained);
  if (problems.length > 0) throw refusal(`The SBOM of ${manifest.name} is wrong: ${problems.join("; ")}.`);
  writeFileSync(file.replace(/\.\w+$/, ".cdx.json"), `${JSON.stringify(bom, null, 2)}\n`);
  return bom.components.length;
}

/** @returns the tarball of a package in dist/release, after its bill of materials is beside it */
async function describe(copy, { name, version, folder }) {
  const stem = `${name.replace("@", "").replace("/", "-")}-${version}`;
  const tarball = join(target, `${stem}.tgz`);
  if (!existsSync(tarball)) throw refusal(`npm run pack made no ${stem}.tgz.`);
  const unpacked = mkdtempSync(join(copy, "..", `${stem}-`));
  read(unpacked, "tar", "-xzf", tarball);
  const manifest = readJson(join(unpacked, "package", "package.json"));
  const paths = globSync("package/**/*.{js,mjs,tgz}", { cwd: unpacked }).map((path) => path.replaceAll("\\", "/"));
  const texts = paths.map((path) => [path, path.endsWith(".tgz") ? "" : readFileSync(join(unpacked, path), "utf8")]);
  return { tarball, components: await writeBill(copy, folder, manifest, tarball, findContained(texts, version)) };
}

/** The broker as one file, and its bill: what an operator without containers or npm downloads. */
async function describeBroker(copy, version) {
  const folder = join("apps", "broker");
  read(copy, "pnpm", `--filter=./${folder}`, "run", "build");
  const file = join(target, "broker.js");
  copyFileSync(join(copy, folder, "dist", "main.js"), file);
  const contained = findContained([["broker.js", readFileSync(file, "utf8")]], version);
  const { name, version: own } = readJson(join(copy, folder, "package.json"));
  await writeBill(copy, folder, { name, version: own }, file, contained);
}

/** @returns the manifests of packages/ with their folders, in the order of publishing */
function readPackages(copy) {
  const paths = globSync("packages/*/package.json", { cwd: copy }).sort();
  return orderPackages(paths.map((path) => ({ ...readJson(join(copy, path)), folder: dirname(path) })));
}

/** npm publishes with provenance only what names the repository that it is built from. */
function requireRepositories(packages, isDryRun) {
  const unnamed = packages.filter(({ repository }) => repository === undefined).map(({ name }) => name);
  if (unnamed.length === 0) return;
  const missing = `npm signs no provenance for a package without \`repository\`: ${unnamed.join(", ")}.`;
  if (!isDryRun) throw refusal(missing);
  say(missing);
}

/** @returns the names of the packages that the registry has in this version */
function findPublished(packages, isDryRun) {
  const there = new Set();
  for (const one of packages) {
    const published = askVersions(one);
    if (published === undefined) {
      const unknown = `The registry gives no answer about ${one.name}.`;
      if (!isDryRun) throw refusal(unknown);
      say(`${unknown} Whether ${one.version} is new is not known.`);
      return there;
    }
    if (isPublished(one, published)) there.add(one.name);
  }
  if (there.size === packages.length) throw refusal(`${packages[0].version} is published already.`);
  return there;
}

/** @returns the notes of the release: what each changelog says of this version */
function readNotes(copy, packages) {
  const sections = packages.map((one) => {
    const path = join(copy, one.folder, "CHANGELOG.md");
    return `## ${one.name}\n\n${readChanges(one, existsSync(path) ? readFileSync(path, "utf8") : "")}\n`;
  });
  return sections.join("\n");
}

/** Publishes one tarball, or does everything but that. */
function publish({ name, version }, { tarball, components }, isDryRun) {
  const tag = semver.prerelease(version) === null ? "latest" : "next";
  const flags = [`--tag=${tag}`, "--access=public", "--loglevel=warn", isDryRun ? "--dry-run" : "--provenance"];
  const { stderr } = run("npm", ["publish", tarball, ...flags, ...SOON], { cwd: target, stdio: "pipe" });
  say(`  ${name}  ${(readFileSync(tarball).length / 1024).toFixed(0)} KB  ${components} components in its SBOM`);
  // What npm changes in a manifest, for example.
  for (const [warning] of stderr.matchAll(/^npm warn publish (?!This command requires).+$/gm)) say(`    ${warning}`);
}

/** @throws Refusal unless the registry has exactly this tarball */
function requireSameContent({ name, version }, { tarball }) {
  const integrity = read(root, "npm", "view", `${name}@${version}`, "dist.integrity", ...FRESH).trim();
  if (integrity === `sha512-${digest("sha512", tarball, "base64")}`) return say(`  ${name} is there already`);
  throw refusal(`${name} ${version} is published with other content.`);
}

async function release(copy, isDryRun) {
  makeCopy(copy, isDryRun);
  const packages = readPackages(copy);
  const [{ version }] = packages;
  if (!isDryRun) requireWorkflow(version);
  requireRepositories(packages, isDryRun);
  const there = findPublished(packages, isDryRun);
  const notes = readNotes(copy, packages);

  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  read(copy, "npm", "run", "--silent", "pack", "--", target);
  writeFileSync(join(target, "NOTES.md"), notes);
  const described = [];
  for (const one of packages) described.push([one, await describe(copy, one)]);
  await describeBroker(copy, version);
  const files = globSync("*", { cwd: target }).sort();
  const sums = files.map((file) => `${digest("sha256", join(target, file))}  ${file}\n`);
  writeFileSync(join(target, "SHA256SUMS"), sums.join(""));

  say(isDryRun ? `Would publish ${version}, in this order:` : `Publishing ${version}:`);
  for (const [one, about] of described.filter(([{ name }]) => there.has(name))) requireSameContent(one, about);
  for (const [one, about] of described.filter(([{ name }]) => !there.has(name))) publish(one, about, isDryRun);
  say(`${isDryRun ? "Nothing was signed or published. " : ""}Tarballs, SBOMs, SHA256SUMS: dist/release`);
}

const ABOUT = {
  program: "npm run release",
  takes: " -- [--dry-run]",
  options: { "dry-run": { type: "boolean", default: false } },
  help: `Packs and publishes every package; docs/releasing.md has the steps.

  --dry-run        all of it but signing and publishing`,
};

async function main(isDryRun) {
  requireCleanTree(root);
  const folder = mkdtempSync(join(tmpdir(), "oauth-broker-release-"));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  await release(join(folder, "copy"), isDryRun);
}

if (import.meta.main) await runScript(ABOUT, ({ values }) => main(values["dry-run"]));
