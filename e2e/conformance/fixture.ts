/**
 * The server that the MCP conformance suite expects: tools, resources and prompts with the names it
 * uses, defined as an author would. Never part of a scaffolded project.
 */
import { defineTool, type ServerDefinition, ToolError } from "@oauth-broker/mcp-auth";
import { z } from "zod";
import { image, resource, text, WAV } from "./fixture-content.ts";
import { registerPrompts, registerResources } from "./fixture-lists.ts";
import { registerRounds, requestState } from "./fixture-rounds.ts";
import { registerLoggingTools, registerSchemaTools } from "./fixture-tools.ts";

const nothing = z.object({});

export const fixture: ServerDefinition = {
  name: "conformance-fixture",
  version: "1.0.0",
  tools: [
    defineTool({
      name: "test_simple_text",
      description: "Text",
      input: nothing,
      run: async () => "This is a simple text response for testing.",
    }),
    defineTool({
      name: "test_image_content",
      description: "An image",
      input: nothing,
      run: async () => ({ content: [image] }),
    }),
    defineTool({
      name: "test_audio_content",
      description: "A sound",
      input: nothing,
      run: async () => ({ content: [{ type: "audio" as const, data: WAV, mimeType: "audio/wav" }] }),
    }),
    defineTool({
      name: "test_embedded_resource",
      description: "A resource",
      input: nothing,
      run: async () => ({
        content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
      }),
    }),
    defineTool({
      name: "test_multiple_content_types",
      description: "Text, an image and a resource",
      input: nothing,
      run: async () => ({
        content: [
          text("Multiple content types test:"),
          image,
          resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ],
      }),
    }),
    defineTool({
      name: "test_error_handling",
      description: "Fails",
      input: nothing,
      run: async () => {
        throw new ToolError("This tool intentionally returns an error for testing");
      },
    }),
    defineTool({
      name: "test_tool_with_progress",
      description: "Tells progress",
      input: nothing,
      run: async (_, { progress }) => {
        for (const done of [0, 50, 100]) await progress(done, 100);
        return "done";
      },
    }),
    // The suite expects no request of ours in the stream of a call.
    defineTool({
      name: "test_streaming_elicitation",
      description: "Streams",
      input: nothing,
      run: async (_, { progress }) => {
        await progress(1, 1);
        return "done";
      },
    }),
  ],
  requestState,
  configure: (server) => {
    registerResources(server);
    registerPrompts(server);
    registerRounds(server);
    registerSchemaTools(server);
    registerLoggingTools(server);
  },
};
