/**
 * The fields of a vendor that an operator may write, built from the registry's table of fields
 * (registry/fields.ts): each under its name on the wire, with the table's rules and words.
 */
import {
  type FieldBy,
  fieldOf,
  FIELDS,
  type ListShape,
  type MapShape,
  type ObjectShape,
  type Shape,
  type Vendor,
  wireName,
  type WireName,
} from "@oauth-broker/oauth-core/registry";
import { defined } from "@oauth-broker/oauth-core";
import { z } from "zod";
import { endpoint, endpointTemplate, type UrlRules } from "./endpoint.ts";
import {
  choice,
  type FieldMeta,
  fieldMeta,
  flag,
  integer,
  listOf,
  mapOf,
  oneOrList,
  section,
  structure,
  text,
} from "./fields.ts";

/** A field that an operator's file may have. */
export type FileField = FieldBy<"file">;

/** In the order of the table. */
export const FILE_FIELDS: readonly FileField[] = (Object.keys(FIELDS) as (keyof Vendor)[]).filter(
  (name): name is FileField => fieldOf(name).by.includes("file"),
);

/** What the fields are after parsing. */
type ParsedFields = {
  readonly [Name in FileField as WireName<Name>]: z.ZodOptional<z.ZodType<NonNullable<Vendor[Name]>>>;
};

/** The schema of each field, none of which is needed. */
export function vendorFieldSchemas(rules: UrlRules): ParsedFields {
  return Object.fromEntries(
    FILE_FIELDS.map((name) => [wireName(name), schemaOf(fieldOf(name), rules).optional()]),
  ) as unknown as ParsedFields;
}

/** @returns the fields that the operator has written */
export function writtenFields(parsed: Readonly<Partial<Record<FileField, unknown>>>): Partial<Vendor> {
  return defined(Object.fromEntries(FILE_FIELDS.map((name) => [name, parsed[name]])));
}

function schemaOf(shape: Shape, rules: UrlRules): z.ZodType {
  const { type = "text", description = "", example, default: usual } = shape;
  const meta: FieldMeta = { type, description, ...defined({ example, default: usual }) };
  const { type: _, ...untyped } = meta;
  switch (shape.is) {
    case "url":
      return shape.operatorsPlaceholders === false ? endpoint(rules, untyped) : endpointTemplate(rules, untyped);
    case "text":
      if (shape.as === "parameter") return z.string().max(2048);
      return text({
        ...meta,
        ...(shape.except && { keywords: { not: { enum: [...shape.except] } } }),
        check: shape.check,
      });
    case "choice":
      return choice({ ...untyped, values: shape.values });
    case "number":
      return integer({ ...meta, least: shape.least, most: shape.most });
    case "flag":
      return flag(untyped);
    case "json":
      return structure({ ...meta, check: checkObject });
    case "map":
      return mapSchema(shape, meta, rules);
    case "list":
      return listSchema(shape, meta, rules);
    case "object":
      return objectSchema(shape, meta, rules);
    case "one of":
      return z.union(shape.of.map((one) => schemaOf(one, rules)) as [z.ZodType, z.ZodType]).register(fieldMeta, meta);
    case "code":
      throw new TypeError("a function is no field of the file");
  }
}

function listSchema({ of, short, mayBeEmpty }: ListShape, meta: FieldMeta, rules: UrlRules): z.ZodType {
  const item = schemaOf(of, rules);
  if (short === undefined) return listOf({ ...meta, of: item, least: mayBeEmpty === true ? 0 : 1 });
  const member = of.is === "object" ? of.members[short] : undefined;
  const alone = member?.is === "choice" ? { enum: [...member.values] } : {};
  const prepare = (one: unknown): unknown => (typeof one === "string" ? { [short]: one } : one);
  return oneOrList({ ...meta, alone, of: item, prepare });
}

function mapSchema(shape: MapShape, meta: FieldMeta, rules: UrlRules): z.ZodType {
  const name = shape.operatorsName ?? shape.name ?? (() => undefined);
  const map = mapOf({ ...meta, name, of: schemaOf(shape.of, rules) });
  if (shape.names === undefined) return map;
  return map.transform((written) =>
    Object.fromEntries(Object.entries(written).map(([name, value]) => [name.toLowerCase(), value])),
  );
}

function objectSchema({ members, description, check }: ObjectShape, meta: FieldMeta, rules: UrlRules): z.ZodType {
  const inFile = Object.entries(members).map(([name, member]): [string, z.ZodType] => {
    const schema = schemaOf(member, rules);
    return [wireName(name), member.optional === true || member.absent !== undefined ? schema.optional() : schema];
  });
  const written = section(Object.fromEntries(inFile));
  if (description !== undefined) written.register(fieldMeta, meta);
  return written.transform((given, context) => {
    const named = Object.entries(members).map(([name, { absent }]) => [name, given[name] ?? absent] as const);
    const value = defined(Object.fromEntries(named));
    const problem = check?.(value as never);
    if (problem === undefined) return value;
    context.addIssue({ code: "custom", message: problem });
    return z.NEVER;
  });
}

function checkObject(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "must be a mapping";
}
