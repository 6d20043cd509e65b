/** Every field of the file as a list, read from the schema itself: for docs/configuration.md and for messages. */
import { z } from "zod";
import { type FieldMeta, fieldMeta } from "./fields.ts";
import { configurationSchema } from "./schema.ts";

export interface FieldDescription extends FieldMeta {
  /** `clients[].redirect_uris[]`, `vendors.<id>.name`. */
  readonly path: string;
}

/** In the order of the schema. Sections without a meaning of their own (`listen`, `limits`) are only their fields. */
export function describeConfiguration(): FieldDescription[] {
  return fieldsOf(configurationSchema({ allowLoopback: false, allowCidrs: [] }), "");
}

function fieldsOf(schema: z.core.$ZodType, path: string): FieldDescription[] {
  const meta = fieldMeta.get(schema);
  const own = meta === undefined || path === "" ? [] : [{ path, ...meta }];
  return [...own, ...inside(schema, path)].filter(
    ({ path }, index, all) => all.findIndex((one) => one.path === path) === index,
  );
}

function inside(schema: z.core.$ZodType, path: string): FieldDescription[] {
  if (schema instanceof z.ZodObject) {
    const fields: [string, z.core.$ZodType][] = Object.entries(schema.shape);
    return fields.flatMap(([name, field]) => fieldsOf(field, path === "" ? name : `${path}.${name}`));
  }
  if (schema instanceof z.ZodArray) return fieldsOf(schema.element, `${path}[]`);
  if (schema instanceof z.ZodRecord) return fieldsOf(schema.valueType, `${path}.<id>`);
  if (schema instanceof z.ZodPipe) return [...fieldsOf(schema.in, path), ...fieldsOf(schema.out, path)];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return fieldsOf(schema.unwrap(), path);
  }
  return [];
}

/** The description of a concrete path: list positions and keys of mappings are any. */
export function descriptionOf(
  path: readonly (string | number)[],
  all: readonly FieldDescription[],
): FieldDescription | undefined {
  const pattern = path
    .map((step) => (typeof step === "number" ? "[]" : `.${step}`))
    .join("")
    .slice(1);
  return all.find((one) => one.path === pattern) ?? all.find((one) => patternOf(one.path).test(pattern));
}

function patternOf(path: string): RegExp {
  const escaped = path.replace(/[[\].]/g, "\\$&").replaceAll("<id>", "[^.]+");
  return new RegExp(`^${escaped}$`);
}
