/**
 * One call of one tool: its response as MCP content, and errors reduced to what the model may see.
 */
import { defined } from "@oauth-broker/oauth-core";
import { randomUUID } from "node:crypto";
import {
  type CallToolResult,
  type InputRequiredResult,
  isCallToolResult,
  type ServerContext,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/server";
import { errorFields, type Log } from "@oauth-broker/oauth-core/service";
import { type ToolAnswer, type ToolContext, ToolError, type VendorApi } from "../tool.ts";
import { failure } from "./linking/asking.ts";
import type { ToolCall } from "./linking/call.ts";
import { askableAt } from "./linking/find-links.ts";
import { type LinkedAnswer, runLinked, type RunLinkedDeps } from "./linking/run-linked.ts";
import { createVendorApi, type VendorApiDeps } from "./vendor-api.ts";

export interface RunToolDeps extends VendorApiDeps {
  readonly log: Log;
}

export interface RunDeps extends RunToolDeps {
  /** With `VENDORS`; the vendor of VendorApiDeps is then the one that signs users in. */
  readonly linked: Omit<RunLinkedDeps, "onAsked"> | undefined;
}

/** @throws UrlElicitationRequiredError where a client of 2025-11-25 has to show its user a URL */
export async function runTool(call: ToolCall, deps: RunDeps): Promise<CallToolResult | InputRequiredResult> {
  const { tool, named, caller } = call;
  const startedAt = performance.now();
  const report = (fields: Parameters<Log["info"]>[1], level: "info" | "error" = "info"): void =>
    deps.log[level]("tool_call", {
      tool: tool.name,
      vendor: deps.linked === undefined ? deps.names.id : named.map(({ id }) => id).join(",") || undefined,
      clientId: caller.clientId,
      durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
      ...fields,
    });
  let outcome: LinkedAnswer;
  try {
    outcome = deps.linked === undefined ? await runPlain(call, deps) : await runWithLinks(call, deps.linked, deps);
  } catch (error) {
    if (error instanceof ToolError) {
      report({ ...errorFields(error), reason: "tool_error" });
      return failure(error.message);
    }
    const referenceId = randomUUID();
    report({ ...errorFields(error), referenceId, reason: "tool_failed" }, "error");
    return failure(`The tool failed. The server's log has the reason under ${referenceId}`);
  }
  const { answer, reason } = outcome;
  report({ reason });
  if (answer instanceof UrlElicitationRequiredError) throw answer;
  return answer;
}

/** With plain `VENDOR`, which the bearer token is for. */
async function runPlain(call: ToolCall, deps: RunToolDeps): Promise<LinkedAnswer> {
  const vendor = createVendorApi(call.caller, call.context.mcpReq.signal, deps);
  const vendors = Object.fromEntries(call.named.map(({ name }) => [name, vendor]));
  return { answer: await run(call, vendors, vendor) };
}

async function runWithLinks(
  call: ToolCall,
  linkedDeps: NonNullable<RunDeps["linked"]>,
  deps: RunToolDeps,
): Promise<LinkedAnswer> {
  const { tool, named, caller, context, linked } = call;
  if (linked === undefined) throw new TypeError("a call came without its links");
  const onAsked: RunLinkedDeps["onAsked"] = (vendor, mode) =>
    deps.log.info("link_asked", { tool: tool.name, vendor, clientId: caller.clientId, mode });
  return runLinked({ ...call, linked }, { ...linkedDeps, onAsked }, (usable) => {
    const apis = named.flatMap((one) => {
      const [link, vendor] = [usable.get(one.id), linkedDeps.vendors.get(one.id)];
      if (link === undefined || vendor === undefined) return [];
      const { scopeRefusal } = vendor;
      const scopeReading = { scopeRefusal, askable: askableAt(one, linked.links, linkedDeps) };
      // Its own token, for its own hosts.
      const api = createVendorApi(link, context.mcpReq.signal, { ...deps, ...vendor, scopeReading });
      return [[one.name, api] as const];
    });
    return run(call, Object.fromEntries(apis), apis.length === 1 ? apis[0]?.[1] : undefined);
  });
}

/** @param vendor the only one; undefined: reading it throws */
async function run(
  { tool, input, caller, context: { mcpReq } }: ToolCall,
  vendors: Readonly<Record<string, VendorApi>>,
  vendor: VendorApi | undefined,
): Promise<CallToolResult> {
  const context: Omit<ToolContext<string>, "vendor"> = {
    vendors,
    user: caller.user,
    signal: mcpReq.signal,
    progress: (done, total, message) => notifyProgress({ progress: done, total, message }, mcpReq),
  };
  const whole = Object.defineProperty(context, "vendor", {
    enumerable: vendor !== undefined,
    get: () => {
      if (vendor !== undefined) return vendor;
      throw new TypeError(`the tool ${tool.name} reads \`vendor\` and does not name exactly one: use \`vendors\``);
    },
  }) as ToolContext<string>;
  return toResult(await tool.run(input, whole));
}

interface Progress {
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

async function notifyProgress(
  { progress, total, message }: Progress,
  { _meta, notify }: ServerContext["mcpReq"],
): Promise<void> {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return;
  await notify({
    method: "notifications/progress",
    params: {
      progressToken,
      progress,
      ...defined({ total, message }),
    },
  });
}

function toResult(answer: ToolAnswer): CallToolResult {
  if (isResult(answer)) return answer;
  const text = typeof answer === "string" ? answer : JSON.stringify(answer, undefined, 2);
  return { content: [{ type: "text", text }] };
}

/**
 * A tool may return a vendor's document as it came, and that must not speak for this server: ask the
 * user for something, or name one of the protocol's own members.
 */
function isResult(answer: ToolAnswer): answer is CallToolResult {
  if (!isCallToolResult(answer)) return false;
  return Object.keys(answer).every((member) => RESULT_MEMBERS.has(member));
}

const RESULT_MEMBERS: ReadonlySet<string> = new Set(["content", "structuredContent", "isError"]);
