/**
 * The building blocks of the schema. Every field states in one place how it is checked and how it
 * is described: docs/configuration.md and the message about a bad value use the same text.
 */
import { checkCidr, checkVendorId, type Parsed, patternOf, readSecret } from "@oauth-broker/service/configuration";
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

/** A row of the schema: a description, whose type the kind of field implies if it names none, and the rules of the kind. */
export type Row<Rules = unknown> = Omit<FieldMeta, "type"> & { readonly type?: string } & Rules;

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

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;
type InCamelCase<Written> = { [Name in keyof Written as CamelCase<Name & string>]: Written[Name] };

/** A mapping with exactly these fields: named in snake_case in the file, in camelCase behind it. */
export function section<Shape extends z.ZodRawShape>(shape: Shape, keywords: z.core.JSONSchema.BaseSchema = {}) {
  const written = z.strictObject(shape).register(sectionKeywords, keywords);
  return written.transform((fields) => {
    const named = Object.entries(fields).map(([name, value]) => [name.replace(/_./g, capital), value] as const);
    return Object.fromEntries(named) as InCamelCase<typeof fields>;
  });
}

const capital = ([, letter = ""]: string): string => letter.toUpperCase();

interface Checked {
  readonly check?: Check<string> | undefined;
}

export function text({ check, ...meta }: Row<Checked>) {
  const schema = check === undefined ? z.string().min(1) : z.string().min(1).superRefine(problemFrom(check));
  return schema.register(fieldMeta, withPattern({ type: "text", ...meta }, check));
}

/** Text that is converted; `parse` returns the value or what is wrong. */
export function parsedText<T>({ parse, ...meta }: FieldMeta & { parse: (value: string) => Parsed<T> }) {
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
export function secretText({ check, ...meta }: Row<Checked>) {
  return parsedText({ type: "text", ...meta, parse: (written) => readSecret(written, check) });
}

/** A secret that is kept as one. */
export function secret(row: Row<Checked>) {
  return secretText({ type: "secret", ...row }).transform((value) => new Secret(value));
}

interface Bounds {
  readonly least: number;
  readonly most: number;
  /** Printed when the value is too large. */
  readonly whyMost?: string;
}

/** A number. Digits in a string are accepted too, because env:NAME yields a string. */
export function integer({ type = "whole number", least, most, whyMost, ...meta }: Row<Bounds>) {
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

export function flag(meta: Row) {
  const schema = z.preprocess((value) => (value === "true" ? true : value === "false" ? false : value), z.boolean());
  return schema.register(fieldMeta, { type: "true or false", ...meta });
}

export function choice<const Values extends readonly [string, ...string[]]>({
  values,
  ...meta
}: Row<{ values: Values }>) {
  return z.enum(values).register(fieldMeta, {
    type: values.map((value) => (/^[\w-]+$/.test(value) ? value : JSON.stringify(value))).join(" | "),
    ...meta,
  });
}

/** With at least so many entries. */
export function listOf<Item extends z.ZodType>({ of, least = 0, ...meta }: FieldMeta & { of: Item; least?: number }) {
  return z.array(of).min(least).register(fieldMeta, meta);
}

export function vendorId(row: Row) {
  return text({ type: "vendor id", check: checkVendorId, ...row });
}

/** @param each of one of them */
export function vendorIds(description: string, each: string) {
  const of = vendorId({ description: each, example: "google-workspace" });
  return listOf({ type: "list of vendor ids", description, of });
}

/** @param each of one of them */
export function networks(description: string, each: string) {
  const [example, keywords] = ["10.20.0.0/16", { pattern: String.raw`^[0-9A-Fa-f:.]+/\d{1,3}$` }];
  const of = text({ type: "network in CIDR notation", description: each, example, keywords, check: checkCidr });
  return listOf({ type: "list of networks", description, example: `[${example}]`, of });
}

interface OneOrList<Item extends z.ZodType> extends FieldMeta {
  readonly of: Item;
  readonly check?: Check<readonly z.infer<Item>[]>;
  /** Runs on a value without brackets. */
  readonly prepare?: (value: unknown) => unknown;
}

/** A list. One value without brackets is a list of one. */
export function oneOrList<Item extends z.ZodType>({ of, check, prepare = asIs, ...meta }: OneOrList<Item>) {
  const list = check === undefined ? z.array(of).min(1) : z.array(of).min(1).superRefine(problemFrom(check));
  return z
    .preprocess((value) => (value === undefined || Array.isArray(value) ? value : [prepare(value)]), list)
    .register(fieldMeta, { alone: "entry", ...meta });
}

export function mapOf<Value extends z.ZodType>({ name, of, ...meta }: FieldMeta & { name: Check<string>; of: Value }) {
  const pattern = patternOf(name);
  const keywords = pattern === undefined ? {} : { propertyNames: { pattern } };
  return z.record(z.string().superRefine(problemFrom(name)), of).register(fieldMeta, { ...meta, keywords });
}

interface Structure extends FieldMeta {
  readonly check: Check<unknown>;
  readonly prepare?: (value: unknown) => unknown;
}

/** Any structure; `check` validates it as a whole. */
export function structure<T>({ check, prepare = asIs, ...meta }: Structure) {
  const checked = z.custom<T>().superRefine(problemFrom(check));
  return z.preprocess(prepare, checked).register(fieldMeta, meta);
}

const asIs = (value: unknown): unknown => value;

function problemFrom<T>(check: Check<T>) {
  return (value: T, context: { addIssue: (issue: { code: "custom"; message: string }) => void }): void => {
    const message = check(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  };
}
