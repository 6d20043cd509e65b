/**
 * What GitHub reads below .github: workflows and issue forms. It reports a mistake in a workflow
 * only when it runs, and shows no form that has one. Run by `npm run check` (gate "github files").
 *
 * Workflows are checked by GitHub's own language service (keys, values, jobs that others need,
 * expressions).
 */
import { registerHooks } from "node:module";
import { TextDocument } from "vscode-languageserver-textdocument";
import { parse } from "yaml";
import { z } from "zod";
import type { Violation } from "../code/boundaries.ts";
import { readTexts, ROOT } from "../sources.ts";

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

const TEXT = z.string().trim().min(1);
const isEachOnce = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
const eachOnce = (option: z.ZodType) => z.array(option).nonempty().refine(isEachOnce, "has an option twice");
const field = <const T extends string>(type: T, attributes: z.ZodRawShape) =>
  z.object({
    type: z.literal(type),
    id: z
      .string()
      .regex(/^[\w-]+$/)
      .optional(),
    attributes: z.object(attributes),
  });
const FIELD = z.discriminatedUnion("type", [
  field("markdown", { value: TEXT }),
  field("input", { label: TEXT }),
  field("textarea", { label: TEXT }),
  field("dropdown", { label: TEXT, options: eachOnce(TEXT) }),
  field("checkboxes", { label: TEXT, options: eachOnce(z.object({ label: TEXT }).transform(({ label }) => label)) }),
]);

const FORM = z.strictObject({
  name: TEXT,
  description: TEXT,
  title: TEXT.optional(),
  labels: z.unknown().optional(),
  assignees: z.unknown().optional(),
  body: z
    .array(FIELD)
    .refine((body) => body.some(({ type }) => type !== "markdown"), "has no field to fill in")
    .refine((body) => isEachOnce(body.flatMap(({ id }) => id ?? [])), "has an id twice"),
});

/** The list of other ways to report (`config.yml`). */
const CONFIGURATION = z.object({
  blank_issues_enabled: z.boolean(),
  contact_links: z.array(z.object({ name: TEXT, about: TEXT, url: z.url() })).optional(),
});

/** @returns what is wrong in one issue form, or in their `config.yml`; GitHub does not offer a form with a mistake */
export function checkIssueForm(path: string, text: string): Violation[] {
  const { error } = (path.endsWith("config.yml") ? CONFIGURATION : FORM).safeParse(parse(text));
  return (error?.issues ?? []).map(({ path: at, message }) => ({
    rule: "issue form",
    path,
    line: 1,
    message: `${at.join(".")} ${message}`,
  }));
}

/** @returns the violations of all files */
export async function checkGithubFiles(root: string = ROOT): Promise<Violation[]> {
  const workflows = [...readTexts([".github/workflows/*.{yml,yaml}"], root)];
  const forms = [...readTexts([".github/ISSUE_TEMPLATE/*.{yml,yaml}"], root)];
  const found: Violation[] = forms.flatMap(([path, text]) => checkIssueForm(path, text));
  for (const [path, text] of workflows) found.push(...(await checkWorkflow(path, text)));
  return found;
}
