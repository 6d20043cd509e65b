/** The table of variables, as its readers see it. */
import { ROWS, type Variable } from "./variables/rows.ts";

type Rows = typeof ROWS;
type NameOf<Part> = { [Name in VariableName]: Rows[Name] extends Part ? Name : never }[VariableName];

export type VariableName = keyof Rows;
export type ChoiceName = NameOf<{ readonly choices: readonly string[] }>;
export type NumberName = NameOf<{ readonly range: unknown }>;

/** Every variable, with the words for its row. */
export const VARIABLES: readonly (Variable & { readonly name: VariableName })[] = Object.entries(ROWS).map(
  ([name, row]) => ({ ...row, name: name as VariableName }),
);
