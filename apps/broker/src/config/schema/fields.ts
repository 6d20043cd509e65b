/**
 * The building blocks of the schema. Every field states in one place how it is checked and how it
 * is described: docs/configuration.md and the message about a bad value use the same text.
 */
import { checkCidr, checkVendorId, patternOf, readSecret } from "@oauth-broker/service/configuration";
import { Secret } from "@oauth-broker/oauth-core";
import { z } from "zod";

export interface FieldMeta {
  /** The shape of a value, in a few words. */
  readonly type: string;
  /** One sentence. */
  readonly description: string;
  /** An example as it would be written in the file. */
  readonly example?: string;
  readonly default?: string;
  /** What broker.schema.json says beyond what zod knows. It accepts at least what the check accepts. */
  readonly keywords?: z.core.JSONSchema.BaseSchema;
  /** What may be written instead of a list. */
  readonly alone?: "entry" | z.core.JSONSchema.BaseSchema;
}

/** A description whose type the kind of field implies if it names none. */
type Meta = Omit<FieldMeta, "type"> & { readonly type?: string };

/**
 * Describes what is wrong with a value as the end of a sentence (`must be …`); undefined for a
 * valid value.
 */
export type Check<T> = (value: T) => string | undefined;

function withPattern(meta: FieldMeta, check: Check<string> | undefined): FieldMeta {
  const pattern = patternOf(check);
  return pattern === undefined ? meta : { ...meta, keywords: { pattern, ...meta.keywords } };
}

/** The description attached to each schema; describe.ts reads it. */
export const fieldMeta = z.registry<FieldMeta>();

/** What broker.schema.json says about a section as a whole, in its keywords. */
export const sectionKeywords = z.registry<z.core.JSONSchema.BaseSchema>();

/** A mapping with exactly these fields. */
export function section<Shape extends z.ZodRawShape>(shape: Shape, keywords: z.core.JSONSchema.BaseSchema = {}) {
  return z.strictObject(shape).register(sectionKeywords, keywords);
}

export function text(meta: Meta, check?: Check<string>) {
  const schema = check === undefined ? z.string().min(1) : z.string().min(1).superRefine(problemFrom(check));
  return schema.register(fieldMeta, withPattern({ type: "text", ...meta }, check));
}

/** Text that is converted; `parse` returns the value or what is wrong. */
export function parsedText<T>(meta: FieldMeta, parse: (value: string) => { value: T } | { problem: string }) {
  const schema = z
    .string()
    .min(1)
    .transform((value, context): T => {
      const parsed = parse(value);
      if ("value" in parsed) return parsed.value;
      context.addIssue({ code: "custom", message: parsed.problem });
      return z.NEVER;
    });
  return schema.register(fieldMeta, meta);
}

/** A secret or an id issued by others, by the rule of every source. */
export function secretText(meta: Meta, check?: Check<string>) {
  return parsedText({ type: "text", ...meta }, (written) => readSecret(written, check));
}

/** A secret that is kept as one. */
export function secret(meta: Meta, check?: Check<string>) {
  return secretText({ type: "secret", ...meta }, check).transform((value) => new Secret(value));
}

/**
 * A number. Digits in a string are accepted too, because env:NAME yields a string.
 *
 * @param whyMost printed when the value is too large
 */
export function integer({ type = "whole number", ...meta }: Meta, least: number, most: number, whyMost?: string) {
  const tooMuch = `must be at most ${most}${whyMost === undefined ? "" : `: ${whyMost}`}`;
  const number = z
    .int()
    .min(least)
    .superRefine(problemFrom((value) => (value > most ? tooMuch : undefined)));
  const schema = z.preprocess(
    (value) => (typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value),
    number,
  );
  const keywords = { maximum: most };
  return schema.register(fieldMeta, { ...meta, type: `${type}, ${least} to ${most}`, keywords });
}

export function flag(meta: Omit<FieldMeta, "type">) {
  const schema = z.preprocess((value) => (value === "true" ? true : value === "false" ? false : value), z.boolean());
  return schema.register(fieldMeta, { type: "true or false", ...meta });
}

export function choice<const Values extends readonly [string, ...string[]]>(
  meta: Omit<FieldMeta, "type">,
  values: Values,
) {
  return z.enum(values).register(fieldMeta, {
    type: values.map((value) => (/^[\w-]+$/.test(value) ? value : JSON.stringify(value))).join(" | "),
    ...meta,
  });
}

/** @param least how many entries it must have */
export function listOf<Item extends z.ZodType>(item: Item, meta: FieldMeta, least = 0) {
  return z.array(item).min(least).register(fieldMeta, meta);
}

/** @param each of one of them */
export function vendorIds(description: string, each: string) {
  const item = text({ type: "vendor id", description: each, example: "google-workspace" }, checkVendorId);
  return listOf(item, { type: "list of vendor ids", description });
}

/** @param each of one of them */
export function networks(description: string, each: string) {
  const [example, keywords] = ["10.20.0.0/16", { pattern: String.raw`^[0-9A-Fa-f:.]+/\d{1,3}$` }];
  const item = text({ type: "network in CIDR notation", description: each, example, keywords }, checkCidr);
  return listOf(item, { type: "list of networks", description, example: `[${example}]` });
}

/**
 * A list. One value without brackets is a list of one.
 *
 * @param prepare of such a value
 */
export function oneOrList<Item extends z.ZodType>(
  item: Item,
  meta: FieldMeta,
  check?: Check<readonly z.infer<Item>[]>,
  prepare: (value: unknown) => unknown = (value) => value,
) {
  const list = check === undefined ? z.array(item).min(1) : z.array(item).min(1).superRefine(problemFrom(check));
  return z
    .preprocess((value) => (value === undefined || Array.isArray(value) ? value : [prepare(value)]), list)
    .register(fieldMeta, { alone: "entry", ...meta });
}

export function mapOf<Value extends z.ZodType>(meta: FieldMeta, checkKey: Check<string>, value: Value) {
  const pattern = patternOf(checkKey);
  const keywords = pattern === undefined ? {} : { propertyNames: { pattern } };
  return z.record(z.string().superRefine(problemFrom(checkKey)), value).register(fieldMeta, { ...meta, keywords });
}

/** Any structure; `check` validates it as a whole. */
export function structure<T>(
  meta: FieldMeta,
  check: Check<unknown>,
  prepare: (value: unknown) => unknown = (value) => value,
) {
  const checked = z.custom<T>().superRefine(problemFrom(check));
  return z.preprocess(prepare, checked).register(fieldMeta, meta);
}

function problemFrom<T>(check: Check<T>) {
  return (value: T, context: { addIssue: (issue: { code: "custom"; message: string }) => void }): void => {
    const message = check(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  };
}
