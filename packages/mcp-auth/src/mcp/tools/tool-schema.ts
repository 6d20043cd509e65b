/**
 * The input or output of a tool as JSON Schema, converted once. A server object lives for one request, and
 * the SDK makes it convert the schema of the called tool, or of all listed ones; the schema belongs
 * to the release and to no user, so it can be shared.
 */
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type { z } from "zod";

/** @returns the same schema for the SDK: it validates as the given one does */
export function convertedOnce<Schema extends z.ZodObject>(
  schema: Schema,
): StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>> {
  const standard = schema["~standard"];
  return {
    "~standard": {
      ...standard,
      jsonSchema: { input: once(standard.jsonSchema.input), output: once(standard.jsonSchema.output) },
    },
  };
}

type Convert = StandardSchemaWithJSON["~standard"]["jsonSchema"]["input"];

/** Cached by the requested dialect; a conversion with a library's own options is not cached. */
function once(convert: Convert): Convert {
  const made = new Map<string, ReturnType<Convert>>();
  return (options) => {
    if (options.libraryOptions !== undefined) return convert(options);
    const known = made.get(options.target);
    if (known !== undefined) return known;
    const schema = convert(options);
    made.set(options.target, schema);
    return schema;
  };
}
