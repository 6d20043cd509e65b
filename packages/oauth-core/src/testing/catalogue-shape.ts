/**
 * What an entry of catalogue.json may look like: the file is read as it is, so a test has to
 * guarantee its type. For the vendor itself the table of its fields says it; the rest of an entry
 * is here. Used by registry/catalogue.test.ts.
 */
import { fieldOf, FIELDS } from "../registry/fields.ts";
import type { Shape } from "../registry/fields/shape.ts";
import { defineVendor, type Vendor } from "../registry/vendor.ts";

const DEFAULTS: Readonly<Record<string, unknown>> = { ...defineVendor({ id: "-", name: "-" }) };

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === "string" && value.length > 0 && !/\p{Cc}/u.test(value);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isUrl: Test = (value) => /^https:\/\/[^\s#:@/?]+([/?][^\s]*)?$/.test(String(value));
const isDay: Test = (value) => /^20\d\d-[01]\d-[0-3]\d$/.test(String(value));

const oneOf =
  (...values: readonly unknown[]): Test =>
  (value) =>
    values.includes(value);
const optional =
  (test: Test): Test =>
  (value) =>
    value === undefined || test(value);
const list =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(test);
const map =
  (test: Test): Test =>
  (value) =>
    isObject(value) && Object.values(value).every(test);
const object =
  (members: Readonly<Record<string, Test>>): Test =>
  (value) =>
    isObject(value) &&
    Object.keys(value).every((name) => Object.hasOwn(members, name)) &&
    Object.entries(members).every(([name, test]) => test(value[name]));

/** Whether a value has the shape that a row says. */
function fits(shape: Shape, value: unknown): boolean {
  switch (shape.is) {
    case "url":
      return isUrl(value);
    case "text":
      // An empty name leaves a parameter out.
      if (shape.as === "parameter") return typeof value === "string" && value.length <= 2048;
      return isText(value) && shape.check?.(String(value)) === undefined;
    case "choice":
      return shape.values.includes(String(value)) && typeof value === "string";
    case "number":
      return Number.isInteger(value) && Number(value) >= shape.least && Number(value) <= shape.most;
    case "flag":
      return typeof value === "boolean";
    case "json":
      return value !== undefined;
    case "code":
      return false;
    case "one of":
      return shape.of.some((one) => fits(one, value));
    case "list": {
      const written = shape.short !== undefined && typeof value === "string" ? [{ [shape.short]: value }] : value;
      const hasSome = shape.mayBeEmpty === true || !Array.isArray(written) || written.length > 0;
      return Array.isArray(written) && hasSome && written.every((item) => fits(shape.of, item));
    }
    case "map":
      return (
        isObject(value) &&
        Object.entries(value).every(([name, item]) => {
          const isWritten = shape.names === undefined || name === name.toLowerCase();
          return isWritten && shape.name?.(name) === undefined && fits(shape.of, item);
        })
      );
    case "object":
      return (
        isObject(value) &&
        Object.keys(value).every((name) => Object.hasOwn(shape.members, name)) &&
        Object.entries(shape.members).every(([name, member]) =>
          value[name] === undefined ? member.optional === true : fits(member, value[name]),
        ) &&
        shape.check?.(value as never) === undefined
      );
  }
}

/** An entry states a member that the table lets it, in its shape, and the default only with a source. */
function isFact(name: string, value: unknown, checks: object): boolean {
  if (name === "id" || name === "name") return isText(value);
  if (!Object.hasOwn(FIELDS, name)) return false;
  const row = fieldOf(name as keyof Vendor);
  const mayBeDefault = name === "tokenEndpointAuthMethod" || Object.hasOwn(checks, name);
  const isDefault = !mayBeDefault && JSON.stringify(DEFAULTS[name]) === JSON.stringify(value);
  return row.by.includes("catalogue") && fits(row, value) && !isDefault;
}

const PLACEHOLDER = object({
  description: isText,
  kind: optional(oneOf("host")),
  default: optional(isText),
  pattern: optional((value) => isText(value) && !/^\^|\$$/.test(String(value))),
  values: optional(list(isText)),
  suffix: optional(list((end) => /^(\.[a-z0-9-]+)+$/.test(String(end)))),
  follows: optional(isObject),
});

/** Beside `vendor`. */
const ENTRY: Readonly<Record<string, Test>> = {
  aliases: list(isText),
  placeholders: map((value) => isText(value) || PLACEHOLDER(value)),
  selfHosted: oneOf(true),
  clientsOf: object({ value: oneOf("vendor"), source: isText }),
  setupNote: object({ text: isText, source: isUrl }),
  generationOf: object({ id: isText, apps: isText }),
  serverUrl: isUrl,
  sources: list(isText),
  checks: map(object({ checkedOn: isDay, source: isText })),
  adjudicated: isText,
  recalled: list(isText),
  ended: isText,
  sunsets: list(object({ endsOn: isText, what: isText, urls: optional(list(isText)), source: isText })),
  status: isText,
  unsupported: list(isText),
  quirks: list(isText),
  confidence: oneOf("high", "medium", "low"),
  agreeing: Number.isInteger,
  disagreements: list(isText),
  superseded: list(isText),
};

/** @returns the members of an entry that it does not have, or whose values they may not have */
export function problemsOf(whole: { readonly vendor: object; readonly checks?: object | undefined }): string[] {
  const { vendor, ...entry } = whole;
  const { checks = {} } = whole;
  return [
    ...Object.entries(vendor).flatMap(([name, value]) => (isFact(name, value, checks) ? [] : [name])),
    ...Object.entries(entry).flatMap(([name, value]) => (ENTRY[name]?.(value) === true ? [] : [name])),
  ];
}
