/** The fixture's resources and prompts, as an author registers them with the SDK. */
import { completable, type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { z } from "zod";
import { image, PNG, resource, text } from "./fixture-content.ts";

export function registerResources(server: McpServer): void {
  const words = { uri: "test://static-text", mimeType: "text/plain" };
  server.registerResource("static-text", words.uri, { mimeType: words.mimeType }, async () => ({
    contents: [{ ...words, text: "This is the content of the static text resource." }],
  }));
  const binary = { uri: "test://static-binary", mimeType: "image/png" };
  server.registerResource("static-binary", binary.uri, { mimeType: binary.mimeType }, async () => ({
    contents: [{ ...binary, blob: PNG }],
  }));
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { mimeType: "application/json" },
    async (uri, { id }) => ({
      contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true }) }],
    }),
  );
}

export function registerPrompts(server: McpServer): void {
  server.registerPrompt("test_simple_prompt", { description: "A prompt" }, async () => ({
    messages: [says(text("This is a simple prompt for testing."))],
  }));
  const completed = completable(z.string(), (start) => ["test", "text"].filter((word) => word.startsWith(start)));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "With arguments", argsSchema: z.object({ arg1: completed, arg2: z.string() }) },
    async ({ arg1, arg2 }) => ({ messages: [says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "With a resource", argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri }) => ({
      messages: [says(resource(resourceUri, "text/plain", "Embedded resource content for testing."))],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "With an image" }, async () => ({
    messages: [says(image), says(text("Please analyze the image above."))],
  }));
}

export function says<Content>(content: Content) {
  return { role: "user" as const, content };
}
