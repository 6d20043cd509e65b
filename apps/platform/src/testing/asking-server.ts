/**
 * A server made with the SDK alone whose tool `post` asks what a test chooses before it answers, in
 * either era. It takes any bearer and links nothing.
 */
import {
  createMcpHandler,
  inputRequired,
  McpServer,
  UrlElicitationRequiredError,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { listen } from "@oauth-broker/service";
import { Hono } from "hono";

/** A call as it arrived. */
export interface SeenCall {
  readonly responses: unknown;
  readonly state: unknown;
}

/** The questions by their keys; undefined answers the call. */
export type Script = (call: SeenCall, count: number) => Readonly<Record<string, string>> | undefined;

export type AskingEra = "2026-07-28" | "2025-11-25";

export interface AskingServer {
  readonly url: string;
  readonly calls: readonly SeenCall[];
  close(): Promise<void>;
}

export async function startAskingServer(era: AskingEra, script: Script): Promise<AskingServer> {
  const calls: SeenCall[] = [];
  const server = (): McpServer => {
    const made = new McpServer({ name: "asking", version: "1.0.0" }, { capabilities: { tools: {} } });
    made.registerTool("post", { description: "Asks first" }, (context) => {
      const { inputResponses, requestState } = context.mcpReq;
      calls.push({ responses: inputResponses, state: requestState() });
      const urls = script(calls[calls.length - 1] as SeenCall, calls.length);
      if (urls !== undefined) return ask(era, urls, calls.length);
      return { content: [{ type: "text", text: `Posted after ${calls.length} calls` }] };
    });
    return made;
  };
  const app = new Hono();
  const answer = era === "2026-07-28" ? ofBothEras(server) : ofTheOldEra(server);
  app.all("/mcp", (c) => answer(c.req.raw));
  const listening = await listen(app, { host: "127.0.0.1", port: 0 });
  return { url: `http://127.0.0.1:${listening.port}/mcp`, calls, close: () => listening.stop(0) };
}

function ask(era: AskingEra, urls: Readonly<Record<string, string>>, round: number) {
  const questions = Object.entries(urls).map(([key, url]) => ({ key, message: `Link your account at ${key}`, url }));
  if (era === "2025-11-25") {
    throw new UrlElicitationRequiredError(
      questions.map(({ key: elicitationId, ...question }) => ({ ...question, mode: "url", elicitationId })),
    );
  }
  const inputRequests = Object.fromEntries(
    questions.map(({ key, ...question }) => [key, inputRequired.elicitUrl(question)]),
  );
  return inputRequired({ inputRequests, requestState: `state of round ${round}` });
}

function ofBothEras(server: () => McpServer): (request: Request) => Promise<Response> {
  const handler = createMcpHandler(server, { legacy: "stateless" });
  return (request) => handler.fetch(request);
}

function ofTheOldEra(server: () => McpServer): (request: Request) => Promise<Response> {
  return async (request) => {
    const transport = new WebStandardStreamableHTTPServerTransport({});
    await server().connect(transport);
    return transport.handleRequest(request);
  };
}
