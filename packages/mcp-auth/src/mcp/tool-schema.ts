/**
 * What a tool takes, as JSON Schema, made once. A server object lives for one request, and the SDK has it convert the schema of
 * the tool that is called, or of all that are listed; the schema belongs to the release and to no user, so it may be shared.
 */
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type { z } from "zod";

/** @returns the same schema to the SDK: it validates as `input` does */
export function convertedOnce<Input extends z.ZodObject>(
  input: Input,
): StandardSchemaWithJSON<z.input<Input>, z.output<Input>> {
  const standard = input["~standard"];
  return {
    "~standard": {
      ...standard,
      jsonSchema: { input: once(standard.jsonSchema.input), output: once(standard.jsonSchema.output) },
    },
  };
}

type Convert = StandardSchemaWithJSON["~standard"]["jsonSchema"]["input"];

/** By the dialect that is asked for; with options of a library's own nothing is kept. */
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
