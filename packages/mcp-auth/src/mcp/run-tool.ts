/**
 * One call of one tool: its response as MCP content, and errors reduced to what the model may see.
 */
import { defined } from "@oauth-broker/oauth-core";
import { randomUUID } from "node:crypto";
import {
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/server";
import { errorFields, inTool, type Log } from "@oauth-broker/service";
import { type CallContext, type ToolContext, ToolError, type VendorApi } from "../tool.ts";
import { failure } from "./elicitation/asking.ts";
import type { RunningToolCall, ToolCall } from "./elicitation/call.ts";
import type { LinkedAnswer } from "./elicitation/run-linked.ts";
import type { CallPolicy } from "./call-policy.ts";
import type { RunningCalls } from "./calls/running-calls.ts";
import { toResult } from "./calls/tool-answer.ts";

export interface RunDeps {
  readonly log: Log;
  readonly calls: RunningCalls;
  readonly policy: CallPolicy;
  /** Under `npm run dev`: the author sees the error itself, which the log never has. */
  readonly showToAuthor?: ShowToAuthor | undefined;
}

/** @param error as the tool threw it; it may quote anything */
export type ShowToAuthor = (tool: string, error: unknown) => void;

/** @throws UrlElicitationRequiredError if a client of 2025-11-25 has to show its user a URL */
export function runTool(call: ToolCall, deps: RunDeps): Promise<CallToolResult | InputRequiredResult> {
  const { id, signal: request } = call.context.mcpReq;
  return deps.calls.run({ from: call.from, id, request }, (signal) =>
    // What the tool starts and does not await is still known as its own.
    inTool(call.tool.name, () => runOnce({ ...call, signal }, deps)),
  );
}

async function runOnce(call: RunningToolCall, deps: RunDeps): Promise<CallToolResult | InputRequiredResult> {
  const { tool, named, caller, signal } = call;
  const startedAt = performance.now();
  const report = (fields: Parameters<Log["info"]>[1], level: "info" | "error" = "info"): void =>
    deps.log[level]("tool_call", {
      tool: tool.name,
      vendor: deps.policy.vendorsOfCall(named),
      clientId: caller.clientId,
      durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
      ...fields,
    });
  let outcome: LinkedAnswer;
  try {
    outcome = await deps.policy.run(call, (vendors, only) => run(call, vendors, only));
  } catch (error) {
    if (signal.aborted && isAbort(error, signal)) {
      report({ reason: "call_cancelled" });
      return failure("The call was cancelled");
    }
    if (error instanceof ToolError) {
      report({ ...errorFields(error), reason: "tool_error" });
      return failure(error.message);
    }
    const referenceId = randomUUID();
    report({ ...errorFields(error), referenceId, reason: "tool_failed" }, "error");
    deps.showToAuthor?.(tool.name, error);
    return failure(`The tool failed. The server's log says at which place, under ${referenceId}`);
  }
  const { answer, reason } = outcome;
  report({ reason: reason ?? ("isError" in answer && answer.isError === true ? "tool_error" : undefined) });
  if (answer instanceof UrlElicitationRequiredError) throw answer;
  return answer;
}

/** A tool that passes its signal on fails with the signal's reason, or with what a library makes of it. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === "AbortError");
}

/** @param vendor the only one; undefined: reading it throws */
async function run(
  { tool, input, caller, signal, context: { mcpReq } }: RunningToolCall,
  vendors: Readonly<Record<string, VendorApi>>,
  vendor: VendorApi | undefined,
): Promise<CallToolResult> {
  const context: Omit<ToolContext<string>, "vendor"> = {
    vendors,
    user: caller.user,
    signal,
    progress: (...progress) => notifyProgress(progress, mcpReq),
  };
  const whole = Object.defineProperty(context, "vendor", {
    enumerable: vendor !== undefined,
    get: () => {
      if (vendor !== undefined) return vendor;
      throw new TypeError(`the tool ${tool.name} reads \`vendor\` and does not name exactly one: use \`vendors\``);
    },
  }) as ToolContext<string>;
  return toResult(await tool.run(input, whole), tool.outputSchema);
}

async function notifyProgress(
  [progress, total, message]: Parameters<CallContext["progress"]>,
  { _meta, notify }: ServerContext["mcpReq"],
): Promise<void> {
  const progressToken = _meta?.progressToken;
  // JSON has no other numbers.
  const isNumber = Number.isFinite(progress) && (total === undefined || Number.isFinite(total));
  if (progressToken === undefined || !isNumber) return;
  await notify({
    method: "notifications/progress",
    params: {
      progressToken,
      progress,
      ...defined({ total, message: message?.toWellFormed() }),
    },
  });
}
