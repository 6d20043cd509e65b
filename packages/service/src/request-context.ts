/**
 * What is known deep inside a request without being passed along: the request that the code runs
 * for, and its span.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "@opentelemetry/api";

/** Filled in while the request is handled; log lines and vendor calls read it. */
interface RequestFacts {
  readonly traceId?: string;
  readonly flowId?: string;
  readonly clientId?: string;
}

/** Outside of a request every member is absent. */
export interface RequestContext {
  readonly request?: RequestFacts;
  /** Parent of the spans of its vendor calls. */
  readonly span?: Span;
  /** The tool of an MCP server whose code runs. */
  readonly tool?: string;
}

const OUTSIDE: RequestContext = {};
const contexts = new AsyncLocalStorage<RequestContext>();

/** @returns the context of the running code */
export function requestContext(): RequestContext {
  return contexts.getStore() ?? OUTSIDE;
}

/** `work`, and everything it starts, runs with this context instead of the present one. */
export function inContext<T>(context: RequestContext, work: () => T): T {
  return contexts.run(context, work);
}
