/**
 * Tools of the fixture that `defineTool` cannot express: schemas written by hand, headers, log
 * messages.
 */
import { fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer } from "./fixture-content.ts";

/** Every keyword that the suite expects in the list of tools. */
const DRAFT_2020_12 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object" as const,
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const WITH_HEADER = {
  type: "object" as const,
  properties: { region: { type: "string", "x-mcp-header": "Region" } },
  required: ["region"],
};

export function registerSchemaTools(server: McpServer): void {
  server.registerTool(
    "json_schema_2020_12_tool",
    { description: "Tool with JSON Schema 2020-12 features", inputSchema: fromJsonSchema(DRAFT_2020_12) },
    async () => answer("ok"),
  );
  server.registerTool(
    "test_custom_header",
    { description: "Takes an argument that also comes as a header", inputSchema: fromJsonSchema(WITH_HEADER) },
    async () => answer("ok"),
  );
}

/** Deprecated since 2026-07-28, and offered only to requests that ask for it. */
export function registerLoggingTools(server: McpServer): void {
  server.server.registerCapabilities({ logging: {} });
  for (const name of ["test_tool_with_logging", "test_logging_tool"]) {
    server.registerTool(name, { description: "Logs", inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      for (const line of ["started", "processing data", "completed"]) {
        // One after the other, as a tool logs.
        await mcpReq.log("info", `Tool execution ${line}`);
      }
      return answer("logged");
    });
  }
}
