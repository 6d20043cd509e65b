/**
 * One call of one tool: its response as MCP content, and errors reduced to what the model may see.
 */
import { defined } from "@oauth-broker/oauth-core";
import { randomUUID } from "node:crypto";
import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { errorFields, type Log } from "@oauth-broker/oauth-core/service";
import type { Caller } from "../mode.ts";
import { type Tool, type ToolAnswer, type ToolContext, ToolError, type VendorApi } from "../tool.ts";
import type { NamedVendor } from "./tool-vendors.ts";
import { createVendorApi, type VendorApiDeps } from "./vendor-api.ts";

export interface RunToolDeps extends VendorApiDeps {
  readonly log: Log;
}

/** A call that the bearer token permits. */
export interface ToolCall {
  readonly tool: Tool;
  /** The vendors that the tool names. */
  readonly named: readonly NamedVendor[];
  readonly input: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly context: ServerContext;
}

export async function runTool(call: ToolCall, deps: RunToolDeps): Promise<CallToolResult> {
  const { tool, named, input, caller, context } = call;
  const startedAt = performance.now();
  const report = (fields: Parameters<Log["info"]>[1], level: "info" | "error" = "info"): void =>
    deps.log[level]("tool_call", {
      tool: tool.name,
      vendor: deps.names.id,
      clientId: caller.clientId,
      durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
      ...fields,
    });
  const vendor = createVendorApi(caller, context.mcpReq.signal, deps);
  try {
    const vendors = Object.fromEntries(named.map(({ name }) => [name, vendor]));
    const result = toResult(await tool.run(input, contextOf(call, vendor, vendors)));
    report({});
    return result;
  } catch (error) {
    if (error instanceof ToolError) {
      report({ ...errorFields(error), reason: "tool_error" });
      return failure(error.message);
    }
    const referenceId = randomUUID();
    report({ ...errorFields(error), referenceId, reason: "tool_failed" }, "error");
    return failure(`The tool failed. The server's log has the reason under ${referenceId}`);
  }
}

function contextOf(
  { caller, context: { mcpReq } }: Pick<ToolCall, "caller" | "context">,
  vendor: VendorApi,
  vendors: Readonly<Record<string, VendorApi>>,
): ToolContext {
  return {
    vendor,
    vendors,
    user: caller.user,
    signal: mcpReq.signal,
    progress: (done, total, message) => notifyProgress({ progress: done, total, message }, mcpReq),
  };
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

function isResult(answer: ToolAnswer): answer is CallToolResult {
  return typeof answer === "object" && answer !== null && "content" in answer && Array.isArray(answer.content);
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
