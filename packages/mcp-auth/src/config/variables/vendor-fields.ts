/** The variables that set fields of a vendor, from the registry's table of fields. */
import { fieldOf, type FieldVariable, FIELDS, type Vendor } from "@oauth-broker/oauth-core/registry";

const URL_TYPE = "absolute https URL (http only where egress allows it)";

export interface FieldVariableRow extends Readonly<Record<"type" | "description" | "example", string>> {
  readonly name: FieldVariable;
}

/** Each with the row's words, and those for the operator of a server if they are others. */
export const VENDOR_FIELD_VARIABLES: readonly FieldVariableRow[] = (Object.keys(FIELDS) as (keyof Vendor)[]).flatMap(
  (name) => {
    const { variable, description = "", example = "" } = fieldOf(name);
    if (variable === undefined) return [];
    return [{ type: URL_TYPE, description, example, ...variable, name: variable.name as FieldVariable }];
  },
);
