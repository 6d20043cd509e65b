/**
 * Every field of a vendor, once: a row for each member of `Vendor`, which does not compile without
 * one. What a row says is in fields/shape.ts. The catalogue, the operator's file, the variables of a
 * deployed server, discovery, connections, `/v1/explain` and the pages of docs read it.
 */
import { ANSWER_FIELDS } from "./fields/answers.ts";
import { ENDPOINT_FIELDS } from "./fields/endpoints.ts";
import { REQUEST_FIELDS } from "./fields/requests.ts";
import type { Field, FieldFacts, Shape, ValueOf } from "./fields/shape.ts";
import type { Vendor } from "./vendor.ts";

/** A row for each member, of which values of the member have the shape, or the reverse. */
type Rows = { readonly [Name in keyof Vendor]-?: RowOf<AllFields[Name], NonNullable<Vendor[Name]>> };
type RowOf<Row, Value> = ValueOf<Row> extends Value ? Row : Value extends ValueOf<Row> ? Row : never;
type AllFields = typeof ENDPOINT_FIELDS & typeof REQUEST_FIELDS & typeof ANSWER_FIELDS;

/** The rows by member. */
export const FIELDS: AllFields = {
  ...ENDPOINT_FIELDS,
  ...REQUEST_FIELDS,
  ...ANSWER_FIELDS,
} satisfies Rows;

/** The members whose rows say this. */
export type FieldWhere<Says> = {
  [Name in keyof AllFields]: AllFields[Name] extends Says ? Name : never;
}[keyof AllFields];

/** The members that this party may state. */
export type FieldBy<Party extends FieldFacts["by"][number]> = {
  [Name in keyof AllFields]: Party extends AllFields[Name]["by"][number] ? Name : never;
}[keyof AllFields];

const ROWS = Object.entries(FIELDS) as [keyof Vendor, Field][];

function fieldsWhere<const Says extends Partial<FieldFacts>>(says: Says): readonly FieldWhere<Says>[] {
  const said = Object.entries(says) as [keyof FieldFacts, unknown][];
  return ROWS.flatMap(([name, row]) =>
    said.every(([fact, value]) => row[fact] === value) ? [name as FieldWhere<Says>] : [],
  );
}

/** @returns the row of a field */
export function fieldOf(name: keyof Vendor): Field {
  return FIELDS[name];
}

/** An endpoint that the vendor's metadata may name. */
export type MetadataField = FieldWhere<{ readonly inMetadata: true }>;
/** A field whose hosts may receive the tokens of an entry. */
export type TokenRecipient = FieldWhere<{ readonly atMovedTokenEndpoint: "at its domain" }>;

export const METADATA_FIELDS: readonly MetadataField[] = fieldsWhere({ inMetadata: true });
/** What stays the same on all legs of a flow. */
export const FLOW_FIELDS: readonly FieldWhere<{ readonly bindsFlow: true }>[] = fieldsWhere({ bindsFlow: true });
/** Endpoints of a grant's requests, whose hosts a connection pins. */
export const GRANT_FIELDS: readonly FieldWhere<{ readonly pinnedFor: "grants" }>[] = fieldsWhere({
  pinnedFor: "grants",
});
/** Endpoints that say whether an access token is good, whose hosts a connection pins. */
export const CHECK_FIELDS: readonly FieldWhere<{ readonly pinnedFor: "checks" }>[] = fieldsWhere({
  pinnedFor: "checks",
});
/** Fields whose hosts may receive the tokens of an entry. */
export const TOKEN_RECIPIENTS: readonly TokenRecipient[] = fieldsWhere({ atMovedTokenEndpoint: "at its domain" });
/** Fields that do not outlive the entry's token endpoint, if any other takes its place. */
export const TOKEN_ENDPOINT_FIELDS: readonly FieldWhere<{ readonly atMovedTokenEndpoint: string }>[] = [
  ...fieldsWhere({ atMovedTokenEndpoint: "dropped" }),
  ...TOKEN_RECIPIENTS,
];
/** Fields that vouch for the entry's own authorization endpoint alone. */
export const ISSUER_FIELDS: readonly FieldWhere<{ readonly atMovedAuthorizationEndpoint: "dropped" }>[] = fieldsWhere({
  atMovedAuthorizationEndpoint: "dropped",
});
type AddressField = FieldWhere<{ readonly is: "url"; readonly placeholders: string }> | "account" | "longLivedToken";

/** Fields that are an address of an entry, or have one, in which its placeholders are filled. */
export const ADDRESS_FIELDS: readonly AddressField[] = ROWS.flatMap(([name, row]) =>
  placeholdersIn(row) === undefined ? [] : [name as AddressField],
);

function placeholdersIn(row: Shape): "filled" | "known" | undefined {
  if (row.is === "object") return row.members["endpoint"] && placeholdersIn(row.members["endpoint"]);
  return row.is === "url" ? row.placeholders : undefined;
}

/** Whether a name in braces may have another meaning there: `{client_id}`, the tenant of a token. */
export function mayHaveOtherNames(name: keyof Vendor): boolean {
  return placeholdersIn(fieldOf(name)) === "known";
}

/** A variable of a deployed server that sets a field. */
export type FieldVariable = Extract<AllFields[keyof AllFields], { readonly variable: unknown }>["variable"]["name"];
/** A field that a variable sets as one address. */
export type UrlVariableField = FieldWhere<{ readonly is: "url"; readonly variable: unknown }>;

/** Fields that a variable sets as one address. */
export const URL_VARIABLE_FIELDS: readonly UrlVariableField[] = ROWS.flatMap(([name, row]) =>
  row.is === "url" && row.variable !== undefined ? [name as UrlVariableField] : [],
);

/** Endpoints that a vendor may have in its own kind instead of the standard one. */
export const OWN_KINDS = ["account", "tokenCheck"] as const;

/** The vendor's own kind of an endpoint, if it has one. */
export function ownKindOf(vendor: Vendor, name: UrlVariableField): (typeof OWN_KINDS)[number] | undefined {
  return OWN_KINDS.find((own) => FIELDS[own].insteadOf === name && vendor[own] !== undefined);
}

/** The address of a field that is one, or has one. */
export function addressOf(vendor: Partial<Vendor>, name: keyof Vendor): string | undefined {
  const value: unknown = vendor[name];
  const address = typeof value === "object" && value !== null && "endpoint" in value ? value.endpoint : value;
  return typeof address === "string" ? address : undefined;
}
