/** The variables that set fields of a vendor, from the registry's table of fields. */
import { fieldOf, type FieldVariable, FIELDS, type Vendor } from "@oauth-broker/oauth-core/registry";

const URL_TYPE = "absolute https URL (http only where egress allows it)";

export interface FieldVariableRow extends Readonly<Record<"type" | "description" | "example", string>> {
  readonly name: FieldVariable;
}

/** Each with the row's words for the operator of a server. */
export const VENDOR_FIELD_VARIABLES: readonly FieldVariableRow[] = (Object.keys(FIELDS) as (keyof Vendor)[]).flatMap(
  (name) => {
    const { variable } = fieldOf(name);
    return variable === undefined ? [] : [{ type: URL_TYPE, ...variable, name: variable.name as FieldVariable }];
  },
);
