/**
 * broker.schema.json: the file as an editor checks it while it is written. Generated from the same
 * schema that the broker reads it with. It accepts every file that the broker accepts; what only
 * the broker can refuse is listed in testing/agreement.ts.
 */
import { defined } from "@oauth-broker/oauth-core";
import { parse } from "yaml";
import { z } from "zod";
import { configurationSchema } from "./configuration.ts";
import { fieldMeta, sectionKeywords } from "./fields.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Text instead of any value, by references.ts. */
const REFERENCE: JsonSchema = {
  description: "A value from the environment or from a file, relative to this one.",
  type: "string",
  pattern: String.raw`^(?:env:[A-Za-z_][A-Za-z0-9_]{0,127}|file:[^\0]+)$`,
};
const AS_REFERENCE: JsonSchema = { $ref: "#/definitions/reference" };

/** The JSON Schema (draft 7, which editors know best) of the configuration file. */
export function configurationJsonSchema(): JsonSchema {
  const generated = z.toJSONSchema(configurationSchema({ allowLoopback: false, allowCidrs: [] }), {
    io: "input",
    target: "draft-07",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => describe(zodSchema, jsonSchema),
  });
  return {
    ...asWritten(generated),
    title: "The configuration of the OAuth broker (broker.yaml)",
    // base_url may come from BASE_URL.
    required: ["clients"],
    definitions: { reference: REFERENCE },
  };
}

function describe(schema: z.core.$ZodType, json: JsonSchema): void {
  Object.assign(json, sectionKeywords.get(schema));
  const meta = fieldMeta.get(schema);
  if (meta === undefined) return;
  const { description, example, keywords, alone } = meta;
  Object.assign(json, { description, ...keywords });
  if (alone !== undefined) {
    const { type, items, minItems, maxItems } = json;
    const list = defined({ type, items, minItems, maxItems });
    for (const name of Object.keys(list)) delete json[name];
    json.anyOf = [...(alone === "entry" ? [] : [alone]), items as JsonSchema, list];
  }
  if (example !== undefined) json.examples = [parse(example)];
}

/**
 * What is written in the file, instead of what remains of it once references are resolved and
 * fields without a value are left out.
 */
function asWritten(schema: JsonSchema): JsonSchema {
  const { anyOf, properties, additionalProperties, items, required = [] } = schema;
  if (schema.type === "object") {
    return {
      ...schema,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, property]) => {
            const field = asWritten(property as JsonSchema);
            return [name, required.includes(name) ? field : either(field, { type: "null" })];
          }),
        ),
      }),
      ...(typeof additionalProperties === "object" && {
        additionalProperties: either(asWritten(additionalProperties), { type: "null" }),
      }),
    };
  }
  if (schema.type === "array" && items !== undefined) return { ...schema, items: asWritten(items as JsonSchema) };
  if (schema.type === "integer")
    return either(schema, { type: "string", pattern: String.raw`^\d{1,12}$` }, AS_REFERENCE);
  if (schema.type === "boolean") return either(schema, { enum: ["true", "false"] }, AS_REFERENCE);
  if (schema.type === "string") {
    const plain = schema.enum === undefined && schema.pattern === undefined;
    return either(plain ? { ...schema, pattern: "^(?!(?:env|file):)" } : schema, AS_REFERENCE);
  }
  return anyOf === undefined ? schema : { ...schema, anyOf: anyOf.map(asWritten) };
}

/** The descriptions stay at the top, where editors look for them. */
function either(schema: JsonSchema, ...others: JsonSchema[]): JsonSchema {
  const { description, default: usual, examples, ...own } = schema;
  const isChoice = own.anyOf !== undefined && Object.keys(own).length === 1;
  const anyOf = [...(isChoice ? (own.anyOf ?? []) : [own]), ...others];
  return { ...defined({ description, default: usual, examples }), anyOf };
}
