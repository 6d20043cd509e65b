/**
 * What GitHub reads below .github: workflows and issue forms. It reports a mistake in a workflow
 * only when it runs, and shows no form that has one. Run by `npm run check` (gate "github files").
 *
 * Workflows are checked by GitHub's own language service (keys, values, jobs that others need,
 * expressions).
 */
import { globSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { TextDocument } from "vscode-languageserver-textdocument";
import { parse } from "yaml";
import type { Violation } from "../code/boundaries.ts";
import { ROOT } from "../sources.ts";

// The language service imports JSON without saying so, which only bundlers accept.
registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith(".json") ? { ...context, importAttributes: { type: "json" } } : context),
});
const { validate } = await import("@actions/languageservice");
const { clearCache } = await import("@actions/languageservice/utils/workflow-cache");

/** @returns what is wrong in one workflow */
export async function checkWorkflow(path: string, text: string): Promise<Violation[]> {
  // What it has parsed it keeps by name.
  clearCache();
  const found = await validate(TextDocument.create(`file:///${path}`, "yaml", 1, text));
  return found.map(({ range, message }) => ({
    rule: "workflow",
    path,
    line: range.start.line + 1,
    message: typeof message === "string" ? message : message.value,
  }));
}

const FIELDS = ["checkboxes", "dropdown", "input", "textarea"];
const TYPES = new Set(["markdown", ...FIELDS]);

/** @returns what is wrong in one issue form; GitHub does not offer a form with a mistake */
export function checkIssueForm(path: string, text: string): Violation[] {
  const form = membersOf(parse(text));
  const body = Array.isArray(form["body"]) ? form["body"].map(membersOf) : [];
  const ids = body.map(({ id }) => id).filter((id) => id !== undefined);
  const unknown = Object.keys(form).filter(
    (key) => !["name", "description", "title", "labels", "assignees", "body"].includes(key),
  );
  return [
    ...["name", "description"].filter((key) => !isText(form[key])).map((key) => `${key} is missing`),
    ...unknown.map((key) => `${key} is no key of a form`),
    ...(body.some(({ type }) => FIELDS.includes(String(type))) ? [] : ["no field to fill in"]),
    ...(new Set(ids).size < ids.length ? ["an id occurs twice"] : []),
    ...body.flatMap((field, index) => problemsOfField(field).map((problem) => `body[${index}] ${problem}`)),
  ].map((message) => ({ rule: "issue form", path, line: 1, message }));
}

function problemsOfField(field: Readonly<Record<string, unknown>>): string[] {
  const { type, id } = field;
  const attributes = membersOf(field["attributes"]);
  if (!TYPES.has(String(type))) return [`has the type ${String(type)}: it is ${[...TYPES].join(", ")}`];
  if (type === "markdown") return isText(attributes["value"]) ? [] : ["has no attributes.value"];
  const options: readonly unknown[] = Array.isArray(attributes["options"]) ? attributes["options"] : [];
  const labels = options.map((option) => (type === "checkboxes" ? membersOf(option)["label"] : option));
  const needsOptions = type === "dropdown" || type === "checkboxes";
  return [
    ...(isText(attributes["label"]) ? [] : ["has no attributes.label"]),
    ...(id === undefined || (isText(id) && /^[\w-]+$/.test(id))
      ? []
      : ["has an id with other characters than letters, digits, - and _"]),
    ...(needsOptions && labels.length === 0 ? ["has no attributes.options"] : []),
    ...(labels.every(isText) && new Set(labels).size === labels.length
      ? []
      : ["has options that are no text, or twice the same"]),
  ];
}

/** @returns what is wrong in the list of other ways to report (`config.yml`) */
export function checkFormConfiguration(path: string, text: string): Violation[] {
  const { blank_issues_enabled: areBlankIssuesEnabled, contact_links: links } = membersOf(parse(text));
  const all: readonly unknown[] = Array.isArray(links) ? links : [];
  const isLink = (link: Readonly<Record<string, unknown>>): boolean =>
    isText(link["name"]) && isText(link["about"]) && URL.canParse(String(link["url"]));
  return [
    ...(typeof areBlankIssuesEnabled === "boolean" ? [] : ["blank_issues_enabled is true or false"]),
    ...all
      .map(membersOf)
      .flatMap((link, index) => (isLink(link) ? [] : [`contact_links[${index}] has name, url and about`])),
  ].map((message) => ({ rule: "issue form", path, line: 1, message }));
}

/** @returns the violations of all files */
export async function checkGithubFiles(root: string = ROOT): Promise<Violation[]> {
  const read = (pattern: string): (readonly [path: string, text: string])[] =>
    globSync(pattern, { cwd: root })
      .map((path) => path.replaceAll("\\", "/"))
      .map((path) => [path, readFileSync(join(root, path), "utf8")] as const);
  const found: Violation[] = [];
  for (const [path, text] of read(".github/workflows/*.{yml,yaml}")) found.push(...(await checkWorkflow(path, text)));
  for (const [path, text] of read(".github/ISSUE_TEMPLATE/*.{yml,yaml}"))
    found.push(...(path.endsWith("/config.yml") ? checkFormConfiguration(path, text) : checkIssueForm(path, text)));
  return found;
}

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";
const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};
