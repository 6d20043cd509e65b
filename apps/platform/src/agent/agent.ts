/**
 * The platform's agent: a stock MCP client that calls tools of a deployed server for one of its
 * users. oauth/bearer.ts chooses the token. A refused token is replaced and the call repeated once;
 * after that the user has to authorize the connection again. A server may ask that the user opens a
 * URL first (link-question.ts): the agent returns the questions, and repeats the call when the user
 * asks for it, never by itself.
 */
import {
  Client,
  extractWWWAuthenticateParams,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  StreamableHTTPClientTransport,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/client";
import { type Fetch, OAuthError } from "@oauth-broker/oauth-core";
import type { Connector } from "../connectors/connector.ts";
import { notDeployed } from "../oauth/client-of-connector.ts";
import type { Bearers } from "../oauth/bearer.ts";
import { refusal } from "../refusal.ts";
import { type Asked, askedInResult, askedInError, type LinkAnswer } from "./link-question.ts";

export interface AgentTool {
  readonly name: string;
  readonly description: string;
}

export interface ToolResult {
  /** The tool reported an error; the call itself succeeded. */
  readonly isError: boolean;
  /** The human-readable part of the answer. */
  readonly text: string;
}

/** The result of a call, or what the server asks before there is one. */
type CallOutcome = { readonly result: ToolResult } | { readonly asked: Asked };

/** One call of a tool, or the retry of one with the answers to the server's questions. */
export interface ToolCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly retry?: {
    readonly answers: Readonly<Record<string, { readonly action: LinkAnswer }>>;
    /** As the server sent it with the questions. */
    readonly requestState?: string;
  };
}

export type Agent = ReturnType<typeof createAgent>;

const INFO = { name: "platform", version: "0.1.0" };
/** Of elicitation only what the pages show: no forms. */
const CAPABILITIES = { elicitation: { url: {} } };

/**
 * Its methods throw OAuthError as Bearers does, and vendor_response_invalid for a server that does
 * not answer with MCP.
 */
export function createAgent({ bearers, fetch }: { readonly bearers: Bearers; readonly fetch: Fetch }) {
  const asUser = async <T>(connector: Connector, userId: string, use: (client: Client) => Promise<T>): Promise<T> => {
    const { serverUrl } = connector;
    if (serverUrl === undefined) throw notDeployed();
    let bearer = await bearers.bearerFor(connector, userId);
    let answer = await attempt(serverUrl, bearer.token, fetch, use);
    if ("refused" in answer && answer.refused === "token") {
      bearer = await bearers.bearerFor(connector, userId, bearer);
      answer = await attempt(serverUrl, bearer.token, fetch, use);
    }
    if ("value" in answer) return answer.value;
    if (answer.refused === "scope") return bearers.stepUp(connector, userId, bearer, answer.scope);
    return bearers.giveUp(connector, userId, bearer);
  };
  return {
    tools: (connector: Connector, userId: string): Promise<readonly AgentTool[]> =>
      asUser(connector, userId, async (client) => {
        const { tools } = await client.listTools();
        return tools.map(({ name, description = "" }) => ({ name, description }));
      }),
    call: (connector: Connector, userId: string, call: ToolCall) =>
      asUser(connector, userId, (client) => callTool(client, call)),
  };
}

async function callTool(client: Client, { tool: name, input, retry }: ToolCall): Promise<CallOutcome> {
  const params = {
    name,
    arguments: { ...input },
    ...(retry === undefined ? {} : { inputResponses: { ...retry.answers } }),
    ...(retry?.requestState === undefined ? {} : { requestState: retry.requestState }),
  };
  try {
    const result: unknown = await client.callTool(params, { allowInputRequired: true });
    if (isInputRequiredResult(result)) return { asked: askedInResult(result) };
    const { content, isError } = result as { readonly content?: unknown; readonly isError?: boolean };
    return { result: { isError: isError === true, text: readable(content) } };
  } catch (error) {
    if (error instanceof UrlElicitationRequiredError) return { asked: askedInError(error.elicitations) };
    if (retry === undefined || !isRefusedState(error)) throw error;
    const said = "The server no longer takes this answer. Call the tool again";
    throw refusal("answer_too_late", said, "vendor_response_invalid", error);
  }
}

/** How a server answers a `requestState` that has expired or is not its own. */
const INVALID_PARAMS: number = ProtocolErrorCode.InvalidParams;
const isRefusedState = (error: unknown): boolean => error instanceof ProtocolError && error.code === INVALID_PARAMS;

/** A 401, or a 403 that asks for more scope. */
type Refusal = { readonly refused: "token" } | { readonly refused: "scope"; readonly scope: string | undefined };

/**
 * Opens one connection for one use.
 * @returns the refusal when the server answered any of its requests with one
 */
async function attempt<T>(
  serverUrl: string,
  token: string,
  fetch: Fetch,
  use: (client: Client) => Promise<T>,
): Promise<{ readonly value: T } | Refusal> {
  const statuses = new Set<number>();
  let refusal: Refusal | undefined;
  const transport = new StreamableHTTPClientTransport(new URL(serverUrl), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      statuses.add(answer.status);
      refusal = refusalOf(answer) ?? refusal;
      return answer;
    },
  });
  const client = new Client(INFO, { versionNegotiation: { mode: "auto" }, capabilities: CAPABILITIES });
  try {
    await client.connect(transport);
    return { value: await use(client) };
  } catch (cause) {
    if (refusal !== undefined) return refusal;
    // Of link-question.ts: the sentence is for the user.
    if (cause instanceof OAuthError && cause.code === "vendor_response_invalid") throw cause;
    throw failure(statuses, cause);
  } finally {
    await client.close();
  }
}

function refusalOf(answer: Response): Refusal | undefined {
  if (answer.status === 401) return { refused: "token" };
  if (answer.status !== 403) return undefined;
  const { error, scope } = extractWWWAuthenticateParams(answer);
  //= rfc6750#3.1
  return error === "insufficient_scope" ? { refused: "scope", scope } : undefined;
}

function failure(statuses: ReadonlySet<number>, cause: unknown): OAuthError {
  const isDown = statuses.size === 0 || [...statuses].some((status) => status >= 500 || status === 429);
  if (!isDown) return refusal("call_refused", "The server refused the call", "vendor_response_invalid", cause);
  const said = "The server of this connector cannot answer now. Try again later";
  return refusal("server_down", said, "temporarily_unavailable", cause);
}

function readable(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return (content as readonly { readonly type?: string; readonly text?: string }[])
    .map(({ type, text }) => text ?? `(${type ?? "something"} that has no text)`)
    .join("\n");
}
