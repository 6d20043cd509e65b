/**
 * Documents name only what exists: the files they link and mention, the scripts they call, and
 * every single word in backticks (symbols, settings, variables, metrics, endpoints, fields,
 * options), which must occur in the sources. No tool can check the sentences around them. Decisions
 * are left out, because they describe the day they were taken. Run by `node
 * tooling/src/main.ts check`.
 */
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { listFiles } from "../repository/tracked-files.ts";
import { ROOT } from "../sources.ts";

export interface Repository {
  /** By path: the text of every file that is not a document. */
  readonly sources: ReadonlyMap<string, string>;
  /** By path. */
  readonly documents: ReadonlyMap<string, string>;
  /** Every file of the repository. */
  readonly paths: ReadonlySet<string>;
}

/** Words in backticks that are not of this repository, each with the reason. */
const FOREIGN: ReadonlySet<string> = new Set([
  // Examples of what an author writes.
  "myTool",
  "src/tools/my-tool.ts",
  // Of SQLite and of Node's own metrics.
  "VACUUM",
  "nodejs_eventloop_lag_p99_seconds",
  // Headers as browsers write them; the sources have them in lower case.
  "Sec-Purpose",
  "X-Moz",
  // A class of Spring, in the example in Java.
  "RestClient",
  // Headers of a future version.
  "Deprecation",
  "Sunset",
]);

const DOCUMENT = /^(?:[^/]+|docs\/(?!decisions\/).+|(?:apps|packages|examples)\/[^/]+\/[^/]+)\.md$/;
const TEXT = /\.(?:ts|mjs|cjs|json|ya?ml|css)$|(?:^|\/)(?:run|Dockerfile|\.gitignore)$/;

export function readRepository(root: string = ROOT): Repository {
  const paths = listFiles(root);
  const read = (pattern: RegExp): [string, string][] =>
    paths.filter((path) => pattern.test(path)).map((path) => [path, readFileSync(join(root, path), "utf8")]);
  return { sources: new Map(read(TEXT)), documents: new Map(read(DOCUMENT)), paths: new Set(paths) };
}

/** @returns what is named and does not exist, one sentence each */
export function checkDocuments(repository: Repository): string[] {
  return [checkDocNames, checkNodeVersion, checkReferences, checkScopes].flatMap((check) => check(repository));
}

/** Links, scripts and words. */
export function checkDocNames(repository: Repository): string[] {
  const everything = [...repository.sources].map(([path, text]) => `${path}\n${text}`).join("\n");
  // Most words are found directly; the others are searched in the text.
  const words = new Set(everything.match(/[\w$-]+/g));
  const scripts = scriptsOf(repository.sources);
  // Generated documents are made from the sources.
  const written = [...repository.documents].filter(([, text]) => !text.startsWith("<!-- Generated"));
  return written.flatMap(([path, text]) => {
    const prose = text.replace(/```[^]*?```/g, "");
    return [
      ...deadLinks(path, prose, repository.paths).map((link) => `${path}: ${link} does not exist`),
      ...[...text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)]
        .filter(([, script = ""]) => !scripts.has(script))
        .map(([call]) => `${path}: no package.json has the script of '${call}'`),
      ...[...prose.matchAll(/`([^`\n]+)`/g)]
        .map(([, word = ""]) => word)
        .filter((word) => !words.has(word) && !isKnown(word, everything, repository.paths))
        .map((word) => `${path}: \`${word}\` does not occur in the sources`),
    ];
  });
}

function deadLinks(from: string, prose: string, paths: ReadonlySet<string>): string[] {
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^(?:[a-z]+:|#)/.test(link))
    .filter((link) => {
      const path = posix.join(posix.dirname(from), link.replace(/#.*$/, "")).replace(/\/$/, "");
      return !paths.has(path) && ![...paths].some((one) => one.startsWith(`${path}/`));
    });
}

/** The scripts of every package.json, and of those that are written into projects. */
function scriptsOf(sources: ReadonlyMap<string, string>): ReadonlySet<string> {
  const manifests = [...sources].filter(([path]) => path.endsWith("package.json"));
  return new Set(
    manifests.flatMap(([, text]) =>
      Object.keys((JSON.parse(text) as { scripts?: Record<string, string> }).scripts ?? {}),
    ),
  );
}

const FILE = /^[\w@./-]+\.(?:ts|mjs|json|ya?ml|md)$/;
const NAME = /^(?:--)?[A-Za-z_$][\w$-]*(?:\(\))?$/;
const ENDPOINT = /^\/[\w./{}-]+$/;

function isKnown(word: string, everything: string, paths: ReadonlySet<string>): boolean {
  if (FOREIGN.has(word)) return true;
  if (FILE.test(word)) {
    const file = word.replace(/^\.\//, "");
    return [...paths].some((path) => path === file || path.endsWith(`/${file}`)) || everything.includes(file);
  }
  if (ENDPOINT.test(word)) return everything.includes(word.replace(/\{[^]*$/, ""));
  if (!NAME.test(word)) return true;
  const name = word.replace("()", "");
  // Fields of the log and of rows are written in camelCase, or composed of a prefix and the rest.
  const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const rest = name.slice(name.indexOf("_") + 1);
  return (
    [name, camel].some((one) => everything.includes(one)) || (name.startsWith("sealed_") && everything.includes(rest))
  );
}

/**
 * A clone contains only this repository: a reference to a document outside of it is useless to the
 * reader.
 */
export function checkReferences({ sources, documents }: Repository): string[] {
  return [...sources, ...documents]
    .filter(([, text]) =>
      /\bdesign §|\bdesign, structural rule|\bsecurity-bar\b|\bbar (?:\d|G\d)|\bvendors\/README\.md|\(quirk \d|\bof the research\b/.test(
        text,
      ),
    )
    .map(([path]) => `${path} refers to a document that is not in this repository`);
}

/** The places that state the lowest supported Node.js, and the version they state. */
export function checkNodeVersion(repository: Repository): string[] {
  const { sources, documents } = repository;
  const manifest = JSON.parse(sources.get("package.json") ?? "{}") as { engines?: { node?: string } };
  const least = /^>=(\d+)$/.exec(manifest.engines?.node ?? "")?.[1] ?? "";
  const places = new Map([
    ["README.md", documents.get("README.md")],
    ["scripts/bootstrap.mjs", sources.get("scripts/bootstrap.mjs")],
    [".ci/run", sources.get(".ci/run")],
  ]);
  return [...places]
    .filter(([, text = ""]) => !text.includes(`Node.js ${least} or newer`))
    .map(([path]) => `${path} does not say 'Node.js ${least} or newer', as engines in package.json does`);
}

/** The scopes that CONVENTIONS.md lists, and the folders they name. */
export function checkScopes({ documents, paths }: Repository): string[] {
  const [paragraph = ""] =
    /A scope is the name of a folder:[^]*?\n\n/.exec(documents.get("CONVENTIONS.md") ?? "") ?? [];
  const scopes = new Set(Array.from(paragraph.matchAll(/`([a-z0-9-]+)`/g), ([, scope = ""]) => scope));
  const owed = [...paths].flatMap((path) => {
    const [, name] = /^(?:packages|apps|packages\/oauth-core\/src)\/([a-z-]+)\/.*$/.exec(path) ?? [];
    const [, inner] = /^packages\/oauth-core\/src\/([a-z-]+)\//.exec(path) ?? [];
    return [name, inner].filter((one) => one !== undefined);
  });
  const folders = new Set([...paths].flatMap((path) => path.replace(/^\./, "").split("/").slice(0, -1)));
  return [
    ...[...new Set(owed)]
      .filter((name) => !scopes.has(name))
      .map((name) => `CONVENTIONS.md does not list the scope ${name}`),
    ...[...scopes]
      .filter((scope) => !folders.has(scope))
      .map((scope) => `CONVENTIONS.md lists ${scope}, which is not a folder`),
  ];
}
