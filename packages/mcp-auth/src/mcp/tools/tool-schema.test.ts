import { McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { convertedOnce } from "./tool-schema.ts";

const input = z.object({ url: z.url().describe("of a page"), pages: z.int().min(1).default(3) });
const dialect = { target: "draft-2020-12" } as const;

describe("the schema of a tool", () => {
  it("is converted once, and is what zod makes of it", () => {
    const conversion = vi.spyOn(input["~standard"].jsonSchema, "input");
    const schema = convertedOnce(input);
    const made = schema["~standard"].jsonSchema.input(dialect);
    expect(schema["~standard"].jsonSchema.input(dialect)).toBe(made);
    expect(conversion).toHaveBeenCalledTimes(1);
    expect(made).toEqual(z.toJSONSchema(input, { ...dialect, io: "input" }));
    // The output schema has the default filled in; the input may omit it.
    expect(schema["~standard"].jsonSchema.output(dialect)).not.toEqual(made);
    expect(schema["~standard"].jsonSchema.input({ target: "draft-07" })).not.toBe(made);
  });

  it("validates as before", async () => {
    const { validate } = convertedOnce(input)["~standard"];
    expect(await validate({ url: "https://example.com/a" })).toEqual({
      value: { url: "https://example.com/a", pages: 3 },
    });
    expect(await validate({ url: "none" })).toHaveProperty("issues");
  });

  it("comes out of the SDK as it went in, however many servers share it", () => {
    const schema = convertedOnce(input);
    const shared = schema["~standard"].jsonSchema.input(dialect);
    const before = structuredClone(shared);
    for (let request = 0; request < 2; request += 1) {
      const server = new McpServer({ name: "test", version: "1" }, { capabilities: { tools: {} } });
      const result = { content: [] };
      server.registerTool("list", { description: "l", inputSchema: schema }, async () => result);
      expect(server.toolInputSchemaJson("list")).toEqual(before);
    }
    expect(shared).toEqual(before);
  });
});
