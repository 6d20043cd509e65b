/**
 * Lists every field of the file, read from the schema itself, for docs/configuration.md and for
 * messages.
 */
import { z } from "zod";
import { type FieldMeta, fieldMeta } from "./fields.ts";
import type { Path } from "../problems.ts";
import { configurationSchema } from "./configuration.ts";

export interface FieldDescription extends FieldMeta {
  /** `clients[].redirect_uris[]`, `vendors.<id>.name`. */
  readonly path: string;
}

/**
 * Returns the fields in the order of the schema. A section without a description (`listen`,
 * `limits`) is represented by its fields alone.
 */
export function describeConfiguration(): readonly FieldDescription[] {
  return (described ??= fieldsOf(configurationSchema({ allowLoopback: false, allowCidrs: [] }), ""));
}

let described: readonly FieldDescription[] | undefined;

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
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => fieldsOf(one, path));
  if (schema instanceof z.ZodOptional) return fieldsOf(schema.unwrap(), path);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    const usual = textOf(schema.def.defaultValue);
    return fieldsOf(schema.unwrap(), path).map((field) => (field.path === path ? { ...field, default: usual } : field));
  }
  return [];
}

/** As it would be written in the file. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The description of the field at a concrete path: any list position and any mapping key matches.
 */
export function descriptionOf(path: Path, all: readonly FieldDescription[]): FieldDescription | undefined {
  const steps = path.map(String);
  return all.find((one) => {
    const pattern = stepsOf(one.path);
    return pattern.length === steps.length && startsWith(steps, pattern);
  });
}

/** The names that a mapping at `parent` may contain. */
export function fieldNamesIn(parent: Path, all: readonly FieldDescription[]): string[] {
  const steps = parent.map(String);
  const names = all.map(({ path }) => stepsOf(path)).filter((pattern) => startsWith(steps, pattern));
  return [...new Set(names.flatMap((pattern) => pattern[steps.length] ?? []))];
}

/** `vendors.<id>.credentials[].id` → vendors, <id>, credentials, [], id. */
function stepsOf(pattern: string): string[] {
  return pattern.replaceAll("[]", ".[]").split(".");
}

function startsWith(steps: readonly string[], pattern: readonly string[]): boolean {
  return steps.every(
    (step, index) =>
      pattern[index] === step || pattern[index] === "<id>" || (pattern[index] === "[]" && /^\d+$/.test(step)),
  );
}
