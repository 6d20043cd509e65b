/**
 * The repository's own tools: `node tooling/src/main.ts COMMAND`.
 *
 * write        regenerates the documents, and the list of first-class vendors
 * check        fails when one is stale, a cited section or a row of the bar has no test, a mutation
 *              cannot be made, docs/flows.md is wrong, or a page or comment names what is not there
 * boundaries   the rules of boundaries.ts, vendor-names.ts, secret-comparisons.ts, refused-words.ts
 * tracked      the rules of tracked-files.ts
 * lockfile     the rules of lockfile.ts
 * github       the rules of github-files.ts
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { answerUsage, readCommand } from "@oauth-broker/oauth-core/command-line";
import { checkApi, hasPage, renderApiPages } from "./api-docs/page.ts";
import { readPublished } from "./api-docs/published.ts";
import { checkBoundaries, checkFolders, type Violation } from "./code/boundaries.ts";
import { checkFlows } from "./code/check-flows.ts";
import { checkClosures, measureLegs, renderClosures, withClosures } from "./code/closures.ts";
import { renderConfiguration } from "./pages/config-docs.ts";
import { checkDecisions, DECISIONS_INDEX, readDecisions, renderDecisions } from "./pages/decisions.ts";
import {
  FIRST_CLASS_FACTS_PATH,
  FIRST_CLASS_PATH,
  renderFirstClass,
  renderFirstClassFacts,
} from "./code/first-class.ts";
import { checkFileMentions } from "./code/file-mentions.ts";
import { checkMutations } from "./mutate/check-mutations.ts";
import { readGuards } from "./mutate/guards.ts";
import { readListed } from "./mutate/list.ts";
import { readTests } from "./mutate/tests.ts";
import { checkDocuments, readRepository } from "./pages/doc-names.ts";
import { checkLockfile } from "./repository/lockfile.ts";
import { checkSecretComparisons, staleAllowances } from "./code/secret-comparisons.ts";
import { checkWords } from "./pages/refused-words.ts";
import { checkProse, readPages, wrapProse } from "./pages/prose.ts";
import { checkRequirements, readRequirements, REQUIREMENTS_PAGE } from "./pages/requirements.ts";
import { EVERYTHING, EXAMPLES, PRODUCT, readEntries, readSources, readTexts, ROOT } from "./sources.ts";
import { checkStandards, indexStandards, renderStandards } from "./pages/standards-index.ts";
import { checkTrackedFiles } from "./repository/tracked-files.ts";
import { CATALOGUE } from "../../packages/oauth-core/src/registry/catalogue.ts";
import { sourcesOfFacts } from "../../packages/oauth-core/src/testing/vendor-witnesses/sources-of-facts.ts";
import { readWitnesses } from "../../packages/oauth-core/src/testing/vendor-witnesses/witnesses.ts";
import { renderVendors } from "./pages/vendor-docs.ts";
import { checkVendorNames } from "./code/vendor-names.ts";
import manifest from "../package.json" with { type: "json" };

const textOf = (path: string): string => (existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), "utf8") : "");
const show = ({ path, line, rule, message }: Violation): string => `${path}:${line} ${rule}: ${message}`;

const renderJson = (schema: object): string =>
  `${JSON.stringify({ $comment: "Generated. Remake: npm run docs", ...schema }, undefined, 1)}\n`;

/** Path → content of every generated document. */
async function documents(): Promise<[path: string, content: string][]> {
  // Loaded on demand: an error in the broker must not keep the other commands from running.
  const { configurationJsonSchema, describeConfiguration } = await import("@oauth-broker/broker/src/config.ts");
  const { describeVariables } = await import("../../packages/mcp-auth/src/config.ts");
  const { serviceJsonSchema } = await import("../../apps/platform/src/deploy/service-file/json-schema.ts");
  const { deployFiles } = await import("./deploy/files.ts");
  const { REGISTRY } = await import("../../packages/oauth-core/src/registry/registry.ts");
  const { FIRST_CLASS } = await import("../../packages/oauth-core/src/registry/first-class/first-class.ts");
  const { defineVendor } = await import("../../packages/oauth-core/src/registry/vendor.ts");
  return [
    ["docs/standards.md", renderStandards(indexStandards(readSources(EVERYTHING)))],
    ["docs/configuration.md", renderConfiguration(describeConfiguration(), describeVariables())],
    [DECISIONS_INDEX, renderDecisions(readDecisions(readPages()))],
    ["apps/broker/broker.schema.json", renderJson(configurationJsonSchema())],
    ["apps/mcp-template/service.schema.json", renderJson(serviceJsonSchema(describeVariables()))],
    ["docs/vendors.md", renderVendors([...REGISTRY.values()], sourcesOfFacts(CATALOGUE, readWitnesses()))],
    [FIRST_CLASS_FACTS_PATH, renderFirstClassFacts(FIRST_CLASS, defineVendor({ id: "", name: "" }))],
    ...(await renderApiPages(readPublished().filter(hasPage))),
    ...deployFiles(textOf("apps/broker/README.md"), textOf("apps/mcp-template/README.md")),
    [
      "docs/flows.md",
      withClosures(textOf("docs/flows.md"), renderClosures(measureLegs(readSources(PRODUCT), readEntries()))),
    ],
  ];
}

/** Pages of packages that are gone, or that have none any more. */
const forgotten = (generated: readonly (readonly [path: string, content: string])[]): string[] =>
  [...readTexts(["docs/api/*.md"]).keys()].filter((path) => !generated.some(([one]) => one === path));

/** The sections, the rows of the bar and the mutations, each with the tests whose titles name it. */
function checkTitles(): string[] {
  const index = indexStandards(readSources(EVERYTHING));
  const requirements = readRequirements(textOf(REQUIREMENTS_PAGE));
  const citing = new Map([...readPages(), ...readTexts(EVERYTHING)]);
  const tests = readTests();
  const rows = new Set(requirements.map(({ id }) => id));
  const guards = readGuards(tests);
  return [
    ...(guards.length === 0 ? ["no check below a citation is mutated: tooling/src/mutate/guards.ts finds none"] : []),
    ...checkStandards(index, textOf("docs/exceptions.md")),
    ...checkRequirements(requirements, index, citing),
    ...checkMutations([...guards, ...readListed(tests)], {
      textOf: (path) => textOf(path) || undefined,
      rows,
    }),
  ];
}

/** What pages and comments name. */
function checkNames(): string[] {
  const repository = readRepository();
  const texts = new Map([...readPages(), ...repository.sources]);
  return [
    ...checkDocuments(repository),
    ...checkFileMentions(repository.sources, repository.paths).map(show),
    ...checkDecisions(readDecisions(readPages()), texts),
  ];
}

/** Each command returns its complaints, which make it fail. */
const COMMANDS: Readonly<Record<string, () => string[] | Promise<string[]>>> = {
  write: async () => {
    // Before the documents, which describe the vendors on that list.
    writeFileSync(join(ROOT, FIRST_CLASS_PATH), renderFirstClass());
    const generated = await documents();
    for (const path of forgotten(generated)) rmSync(join(ROOT, path));
    for (const [path, content] of generated) {
      mkdirSync(dirname(join(ROOT, path)), { recursive: true });
      writeFileSync(join(ROOT, path), content);
    }
    for (const [path, text] of readPages()) {
      const wrapped = wrapProse(text);
      if (wrapped !== text) writeFileSync(join(ROOT, path), wrapped);
    }
    return [];
  },
  check: async () => {
    const generated = [[FIRST_CLASS_PATH, renderFirstClass()] as const, ...(await documents())];
    return [
      ...generated
        .filter(([path, content]) => textOf(path) !== content)
        .map(([path]) => `${path} is stale: npm run docs`),
      ...forgotten(generated).map((path) => `${path} is the page of no package that has one: npm run docs`),
      ...checkApi(readPublished()),
      // The table of closures is not a table of hops.
      ...checkClosures(measureLegs(readSources(PRODUCT), readEntries())),
      ...checkFlows(withClosures(textOf("docs/flows.md"), ""), readSources(PRODUCT)),
      ...checkTitles(),
      ...checkProse(readPages(), textOf("docs/glossary.md")),
      ...checkNames(),
    ];
  },
  boundaries: () => {
    const files = readSources([...PRODUCT, ...EXAMPLES]);
    const everything = readSources(EVERYTHING);
    return [
      ...checkBoundaries(files, readEntries()),
      ...checkVendorNames(files),
      ...checkSecretComparisons(files),
      ...staleAllowances(files),
      ...checkFolders(everything),
      ...checkWords(everything, textOf("docs/glossary.md")),
    ].map(show);
  },
  tracked: () => checkTrackedFiles().map(show),
  lockfile: () => checkLockfile(textOf("pnpm-lock.yaml")),
  github: async () => {
    // Loaded on demand: the language service takes half a second.
    const { checkGithubFiles } = await import("./repository/github-files.ts");
    return (await checkGithubFiles()).map(show);
  },
};

const PROGRAM = "node tooling/src/main.ts";
const HELP = `Usage: ${PROGRAM} ${Object.keys(COMMANDS).join(" | ")}

  -h, --help       this text
  -v, --version    the version`;

const about = { program: PROGRAM, help: HELP, version: manifest.version, commands: Object.keys(COMMANDS) };
const asked = readCommand(process.argv.slice(2), {}, about, ({ words: [name = "", ...more] }) => {
  const run = COMMANDS[name];
  if (run === undefined) throw new Error("a command is missing");
  if (more.length > 0) throw new Error(`${name} takes no arguments`);
  return { run };
});
if ("exitCode" in asked) process.exitCode = answerUsage(asked);
else {
  const complaints = await asked.run();
  for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
  process.exitCode = complaints.length === 0 ? 0 : 1;
}
