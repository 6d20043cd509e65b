/**
 * `POST /mcp`: a bearer token is resolved to a caller, the SDK handles the protocol, tools run for
 * that caller. One server object per request, so that no data of one user can reach another; both
 * protocol eras from the same definition; no sessions. Without a valid token every other method
 * gets the same challenge.
 */
import { defined } from "@oauth-broker/oauth-core";
import {
  type AuthInfo,
  createMcpHandler,
  McpServer,
  requireScopes,
  type ScopeChallengeHandler,
} from "@modelcontextprotocol/server";
import type { Answer } from "@oauth-broker/oauth-core/http";
import { inTool } from "@oauth-broker/service";
import { requireNoCoding, type Route, type Trace } from "@oauth-broker/service/http";
import type { Context } from "hono";
import type { CallerAddress } from "../caller-address.ts";
import { PATHS } from "../resource/paths.ts";
import type { ServerDefinition } from "../server.ts";
import type { Tool } from "../tool.ts";
import { callOrigin, requestOf, toAuthInfo } from "./admission/auth-info.ts";
import { type BearerDeps, requireCaller } from "./admission/bearer.ts";
import type { Era } from "./elicitation/call.ts";
import type { ElicitationDeps } from "./elicitation/deps.ts";
import { callsOfOne, callsOfSeveral } from "./call-policy.ts";
import { isForUser } from "./browser-pages.ts";
import { type RunDeps, runTool } from "./run-tool.ts";
import type { VendorApiDeps } from "./tools/vendor-api.ts";
import { createRunningCalls } from "./calls/running-calls.ts";
import { convertedOnce } from "./tools/tool-schema.ts";
import { type NamedVendor, vendorsOf } from "./tools/tool-vendors.ts";
import { requireWholeToken } from "./admission/whole-token.ts";

export interface McpDeps extends BearerDeps, VendorApiDeps, Pick<RunDeps, "log" | "showToAuthor"> {
  readonly addressOf: CallerAddress;
  /** With `VENDORS`. */
  readonly linking?: ElicitationDeps;
  /** The same challenge, for a person with a browser. Default: none, a browser gets what clients get. */
  readonly challengePage?: (challenge: Answer) => Answer;
}

const MAX_BODY_BYTES = 1024 * 1024;
/** The list of tools is the same for every user of a release. */
const LIST_TTL_MS = 60_000;

export interface McpEndpoint {
  readonly route: Route;
  /** As RunningCalls.cut. */
  cutCalls(): Promise<void>;
  /** Ends exchanges under way. */
  close(): Promise<void>;
}

/**
 * @throws Error for a definition that would fail every request: two tools of one name, an input
 *   without JSON Schema, a `configure` that throws
 */
export function createMcpEndpoint(definition: ServerDefinition, deps: McpDeps): McpEndpoint {
  const { linking } = deps;
  const toolNames = new Set(definition.tools.map(({ name }) => name));
  const policy =
    linking === undefined
      ? callsOfOne(deps)
      : callsOfSeveral(linking, deps, { toolNames, maxBodyBytes: MAX_BODY_BYTES });
  const tools = definition.tools.map((tool) => ({
    tool,
    named: vendorsOf(tool, policy.signIn),
    inputSchema: convertedOnce(tool.input),
    outputSchema: tool.outputSchema && convertedOnce(tool.outputSchema),
  }));
  const calls = createRunningCalls();
  const serverDeps: ServerDeps = { ...deps, calls, policy };
  requireSound(definition, tools, serverDeps);
  const serverFor = ({ era, authInfo }: { readonly era: Era; readonly authInfo?: AuthInfo }): McpServer =>
    createServer(definition, tools, { era, from: authInfo && requestOf(authInfo).from }, serverDeps);
  const handler = createMcpHandler(serverFor, {
    legacy: "stateless",
    maxRequestBodySize: MAX_BODY_BYTES,
    onerror: (error) => deps.log.info("mcp_refused", { errorName: error.name }),
  });
  const everyScope = tools.flatMap(({ tool, named }) => policy.scopesOf(tool, named) ?? []);
  // Its prompts and resources are author's code as tools are, and any request may run one.
  const asAuthors = <Result>(run: () => Result): Result =>
    definition.configure === undefined ? run() : inTool("configure", run);
  const findCaller = async (c: Context, trace: Trace): ReturnType<typeof requireCaller> => {
    if (policy.vendorOfRequest !== undefined) trace.vendor = policy.vendorOfRequest;
    return requireCaller(c.req.header("authorization"), deps.addressOf(c), deps);
  };
  return {
    route: {
      method: "POST",
      path: PATHS.mcp,
      surface: "api",
      handle: async (c, trace) => {
        const found = await findCaller(c, trace);
        if ("challenge" in found) return found.challenge;
        requireNoCoding(c);
        const { caller } = found;
        if (caller.clientId !== undefined) trace.clientId = caller.clientId;
        const from = callOrigin(c);
        return asAuthors(() =>
          policy.exchange(c.req.raw, caller, (request, linked, parsedBody) =>
            handler.fetch(request, {
              authInfo: toAuthInfo({ caller, from, linked }, everyScope, deps),
              ...defined({ parsedBody }),
            }),
          ),
        );
      },
      // Clients request the challenge by HEAD or GET: the token is checked before the method.
      otherMethods: async (c, trace) => {
        const found = await findCaller(c, trace);
        if (!("challenge" in found)) return undefined;
        const { challenge } = found;
        const shown = isForUser(c.req.method, c.req.header("accept")) ? deps.challengePage?.(challenge) : undefined;
        return shown ?? challenge;
      },
    },
    cutCalls: calls.cut,
    close: handler.close,
  };
}

type ServerDeps = McpDeps & RunDeps;

interface PreparedTool {
  readonly tool: Tool;
  readonly named: readonly NamedVendor[];
  readonly inputSchema: ReturnType<typeof convertedOnce<Tool["input"]>>;
  readonly outputSchema: PreparedTool["inputSchema"] | undefined;
}

//= bar#RS-6
function createServer(
  definition: ServerDefinition,
  tools: readonly PreparedTool[],
  { era, from }: { readonly era: Era; readonly from: string | undefined },
  deps: ServerDeps,
): McpServer {
  const { name, version, title, description, websiteUrl, icons, instructions, configure, requestState } = definition;
  const server = new McpServer(
    { name, version, ...defined({ title, description, websiteUrl, icons: icons && [...icons] }) },
    {
      ...defined({ instructions, requestState }),
      capabilities: { tools: {} },
      cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "private" } },
    },
  );
  // The call was sent in another request, and so to another server object.
  server.server.setNotificationHandler("notifications/cancelled", ({ params: { requestId } }) => {
    if (from !== undefined && requestId !== undefined) deps.calls.cancel(from, requestId);
  });
  for (const prepared of tools) register(prepared, server, era, deps);
  configure?.(server);
  announceNoChanges(server);
  return server;
}

/** The one that the SDK lists tools in. */
const SCHEMA_DIALECT = "draft-2020-12";
const ERAS: readonly Era[] = ["modern", "legacy"];

function requireSound(definition: ServerDefinition, tools: readonly PreparedTool[], deps: ServerDeps): void {
  for (const era of ERAS) createServer(definition, tools, { era, from: undefined }, deps);
  for (const { tool, inputSchema, outputSchema } of tools) {
    const dialect = { target: SCHEMA_DIALECT } as const;
    requireShown(`tool ${tool.name}: its input`, () => inputSchema["~standard"].jsonSchema.input(dialect));
    requireShown(`tool ${tool.name}: its outputSchema`, () => outputSchema?.["~standard"].jsonSchema.output(dialect));
  }
}

function requireShown(what: string, show: () => unknown): void {
  try {
    show();
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    throw new Error(`${what} cannot be shown as JSON Schema${why}`, { cause });
  }
}

/**
 * The SDK announces for every list that it sends change notifications. Ours change only with a
 * release, and no client would be notified.
 */
function announceNoChanges({ server }: McpServer): void {
  const { tools, prompts, resources } = server.getCapabilities();
  const unchanging = { listChanged: false };
  server.registerCapabilities({
    ...(tools === undefined ? {} : { tools: unchanging }),
    ...(prompts === undefined ? {} : { prompts: unchanging }),
    ...(resources === undefined ? {} : { resources: unchanging }),
  });
}

function register(prepared: PreparedTool, server: McpServer, era: Era, deps: ServerDeps): void {
  const { tool, named, inputSchema, outputSchema } = prepared;
  const { name, title, description, annotations, icons, _meta } = tool;
  const scopeChallenge = challengeOf(prepared, deps);
  server.registerTool(
    name,
    {
      description,
      inputSchema,
      ...defined({ title, annotations, outputSchema, icons: icons && [...icons], _meta: _meta && { ..._meta } }),
      //= bar#RS-3
      ...defined({ scopeChallenge }),
    },
    (input, context) => runTool({ tool, named, input, context, era, ...requestOf(context.http?.authInfo) }, deps),
  );
}

function challengeOf(prepared: PreparedTool, deps: ServerDeps): ScopeChallengeHandler | undefined {
  const scopes = deps.policy.scopesOf(prepared.tool, prepared.named);
  if (scopes === undefined) return requireWholeToken(deps.scope === "" ? [] : deps.scope.split(" "));
  const [first, ...others] = scopes;
  return first === undefined ? undefined : requireScopes(first, ...others);
}
