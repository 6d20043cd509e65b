/**
 * The spans of requests and of calls to vendors, made through the OpenTelemetry API. Until a
 * provider is registered (exporter.ts, or by the program around us) the API's spans record nothing.
 */
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { requestContext } from "../request-context.ts";
import { plainText } from "../log.ts";
import { newTraceId, parseTraceparent } from "./traceparent.ts";

const tracer = trace.getTracer("@oauth-broker/service");

/** What a span says when it ends; a member that is undefined is left out. */
export type SpanFacts = Readonly<Record<string, string | number | undefined>>;

/**
 * @param name method and route pattern; undefined: no span, only the id
 * @param traceparent the caller's header. If it is not valid the request starts a new trace
 * @returns a request's id, and its span until it is answered
 */
export function startRequestSpan(name: string | undefined, traceparent: string | undefined) {
  const parent = parseTraceparent(traceparent);
  const context =
    parent === undefined
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: parent.flags & 1, isRemote: true });
  const span =
    name === undefined ? trace.wrapSpanContext(NO_SPAN) : tracer.startSpan(name, { kind: SpanKind.SERVER }, context);
  return { span, traceId: parent?.traceId ?? (isNone(span) ? newTraceId() : span.spanContext().traceId) };
}

const NO_SPAN = { traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 };

/** Whether nothing is recorded: no provider is registered, or nothing was asked for. */
function isNone(span: Span): boolean {
  return span.spanContext().traceId === NO_SPAN.traceId;
}

/** @param name of few values: what is asked, of which vendor */
export function startVendorSpan(name: string): Span {
  const { span } = requestContext();
  const context = span === undefined || isNone(span) ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, span);
  return tracer.startSpan(name, { kind: SpanKind.CLIENT }, context);
}

/** @param isFailure ours or the vendor's, not the caller's */
export function endSpan(span: Span, facts: SpanFacts, isFailure: boolean): void {
  if (!span.isRecording()) return;
  for (const [name, value] of Object.entries(facts)) {
    if (value !== undefined) span.setAttribute(name, typeof value === "string" ? plainText(value) : value);
  }
  if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
