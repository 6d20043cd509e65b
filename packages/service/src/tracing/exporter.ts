/**
 * Sends spans to the collector: the OpenTelemetry SDK and its OTLP exporter, loaded by
 * tracing/start.ts only if a collector is configured. The exporter opens its own connections,
 * to the operator's address alone (docs/decisions/0049-audit-traces-and-events.md).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, defaultResource, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { TracingSettings } from "../configuration/tracing.ts";
import { inContext } from "../request-context.ts";
import { errorFields, type Log } from "../log.ts";

/** How long a stop may take for the last spans. */
const STOP_MS = 1_000;
const WARN_EVERY_MS = 60_000;

/** Spans are being sent. */
export interface Tracing {
  /** Sends what is left; takes at most a second. */
  stop(): Promise<void>;
}

/** Registers the provider of every span of this process. */
export function startExporter(
  { sampler, ratio }: TracingSettings,
  defaultName: string,
  log: Pick<Log, "warn">,
): Tracing {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ "service.name": defaultName }))
    .merge(detectResources({ detectors: [envDetector] }));
  const exporter = reported(new OTLPTraceExporter(), log);
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(sampler, ratio),
    // Holds at most 2,048 spans and drops any more.
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  // If the program around us has registered one before, that one gets our spans.
  trace.setGlobalTracerProvider(provider);
  return {
    stop: async () => {
      const deadline = new AbortController();
      const limit = sleep(STOP_MS, undefined, { signal: deadline.signal, ref: false });
      await Promise.race([provider.shutdown(), limit]).catch(() => undefined);
      deadline.abort();
    },
  };
}

const OF_PARENT = "parentbased_";

function samplerOf(name: TracingSettings["sampler"], ratio: number): Sampler {
  if (!name.startsWith(OF_PARENT)) return rootSampler(name, ratio);
  return new ParentBasedSampler({ root: rootSampler(name.slice(OF_PARENT.length), ratio) });
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === "traceidratio") return new TraceIdRatioBasedSampler(ratio);
  return name === "always_on" ? new AlwaysOnSampler() : new AlwaysOffSampler();
}

/** Spans that were not taken cause one warning a minute; the SDK itself would say nothing. */
function reported(exporter: SpanExporter, log: Pick<Log, "warn">): SpanExporter {
  let lost = 0;
  let warnAt = Number.NEGATIVE_INFINITY;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined) {
          lost += spans.length;
          if (performance.now() >= warnAt) {
            const { error } = result;
            const status = "code" in error && typeof error.code === "number" ? error.code : undefined;
            // A timer of the SDK carries the context of the request that started it.
            inContext({}, () => log.warn("spans_lost", { ...errorFields(error), status, count: lost }));
            lost = 0;
            warnAt = performance.now() + WARN_EVERY_MS;
          }
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush === undefined ? {} : { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}
