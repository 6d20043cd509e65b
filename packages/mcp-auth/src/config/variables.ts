/** What the table of variables says about one of them: in words, and as values. */
import { ROWS, type Use } from "./variables/rows.ts";

/** One environment variable, as docs/configuration.md shows it. */
export interface Variable extends Readonly<Record<"name" | "type" | "description" | "example", string>> {
  /** In words or as it would be written. Absent: no default. */
  readonly default?: string;
  readonly use?: Use;
  /** The only values, if the type has a list of them. */
  readonly choices?: readonly string[];
  /** For a whole number: the lowest and the highest. */
  readonly range?: { readonly least: number; readonly most: number };
}

type AnyRow = (typeof ROWS)[number];
type RowOf<Name extends VariableName> = Extract<AnyRow, { readonly name: Name }>;
type NameOf<Part> = Extract<AnyRow, Part>["name"];

export type VariableName = AnyRow["name"];
export type ChoiceName = NameOf<{ readonly choices: readonly string[] }>;
export type NumberName = NameOf<{ readonly least: number }>;
type DefaultOf<Name extends VariableName> = RowOf<Name> extends { readonly default: infer Value } ? Value : undefined;

/** Every variable, with the words for its row. */
export const VARIABLES: readonly (Variable & { readonly name: VariableName })[] = ROWS.map(describe);

function describe(row: AnyRow): Variable & { readonly name: VariableName } {
  const { name, description } = row;
  const common = { name, description, ...("use" in row && { use: row.use }) };
  if ("flag" in row)
    return { ...common, type: "true or false", choices: ["true", "false"], example: "true", default: "false" };
  const { example } = row;
  const usual = "default" in row ? { default: String(row.default) } : {};
  if ("choices" in row) return { ...common, type: row.choices.join(" or "), choices: row.choices, example, ...usual };
  if ("type" in row) return { ...common, type: row.type, example, ...usual };
  const { least, most } = row;
  const noun = "noun" in row ? row.noun : "whole number";
  return { ...common, type: `${noun}, ${least} to ${most}`, range: { least, most }, example, ...usual };
}

function rowOf<Name extends VariableName>(name: Name): RowOf<Name> {
  return ROWS.find((row) => row.name === name) as RowOf<Name>;
}

/** The value of a variable that is not set; if the row has words for it, those. */
export function defaultOf<Name extends VariableName>(name: Name): DefaultOf<Name> {
  const row: object = rowOf(name);
  return ("default" in row ? row.default : undefined) as DefaultOf<Name>;
}

export function choicesOf<Name extends ChoiceName>(name: Name): RowOf<Name>["choices"] {
  return (rowOf(name) as { readonly choices: RowOf<Name>["choices"] }).choices;
}

export function rangeOf(name: NumberName): { readonly least: number; readonly most: number } {
  return rowOf(name);
}
