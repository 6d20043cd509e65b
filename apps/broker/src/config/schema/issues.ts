/**
 * Translates zod's issues into configuration problems with our wording and paths, and without any
 * value.
 */
import type { z } from "zod";
import { descriptionOf, type FieldDescription, fieldNamesIn } from "./describe.ts";
import { formatPath, nearest, type Path, type Problem } from "../problems.ts";

/** @param tree what was parsed, with references resolved */
export function problemsOfIssues(
  issues: readonly z.core.$ZodIssue[],
  tree: unknown,
  fields: readonly FieldDescription[],
): Problem[] {
  const problems = issues.flatMap(inAlternatives).flatMap((issue) => {
    const path = pathInFile(issue.path, tree);
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(path, key, fields));
    const field = descriptionOf(path, fields);
    return {
      path: formatPath(path),
      problem: problemOf(issue, valueAt(tree, path)),
      ...(field === undefined ? {} : { expected: field.type }),
      ...(field?.example === undefined ? {} : { example: field.example }),
    };
  });
  // A value that is empty or of the wrong type breaks further rules, which would only confuse.
  return problems.filter(({ path }, at) => problems.findIndex((problem) => problem.path === path) === at);
}

/** How zod calls a value of another kind: a text for a section, an unknown word. */
const OTHER_KIND: ReadonlySet<string> = new Set(["invalid_type", "invalid_value"]);

/** For a word or a section: what is wrong in the section, if one is written. */
function inAlternatives(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const best = issue.errors.find((issues) =>
    issues.every(({ path, code }) => path.length > 0 || !OTHER_KIND.has(code)),
  );
  return (best ?? issue.errors[0] ?? []).map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

/**
 * A list of one may be written without brackets: a problem of its only entry is reported for the
 * field itself.
 */
function pathInFile(path: readonly PropertyKey[], tree: unknown): Path {
  const inFile: (string | number)[] = [];
  for (const step of path) {
    const at = valueAt(tree, inFile);
    // One text may be written instead of a section: there is nothing below it in the file.
    if (typeof at === "string") break;
    if (typeof step === "number" && at !== undefined && !Array.isArray(at)) continue;
    inFile.push(typeof step === "symbol" ? String(step) : step);
  }
  return inFile;
}

export function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

function unknownKey(parent: Path, key: string, fields: readonly FieldDescription[]): Problem {
  const known = fieldNamesIn(parent, fields);
  const near = nearest(key, known);
  return {
    path: formatPath([...parent, key]),
    problem: near === undefined ? "is not a known field" : `is not a known field: did you mean ${near}?`,
    expected: `one of ${known.join(", ")}`,
  };
}

function problemOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === "custom") return issue.message;
  if (issue.code === "invalid_key") return issue.issues[0]?.message ?? "is not a usable name";
  if (value === undefined) return "is missing";
  if (value === "") return "must not be empty";
  if (issue.code === "invalid_type") {
    const isUnquoted = issue.expected === "string" && (typeof value === "number" || typeof value === "boolean");
    return isUnquoted ? "must be text: put it in quotes" : `must be ${WORDS[issue.expected] ?? issue.expected}`;
  }
  if (issue.code === "too_small") {
    return issue.origin === "array" ? "must have at least one entry" : `must be at least ${issue.minimum}`;
  }
  if (issue.code === "too_big") {
    return issue.origin === "string"
      ? `must have at most ${issue.maximum} characters`
      : `must be at most ${issue.maximum}`;
  }
  if (issue.code === "invalid_value")
    return `must be one of ${issue.values.map((one) => JSON.stringify(one)).join(", ")}`;
  return "is not usable";
}

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
  record: "a mapping",
};
