/** An OpenTelemetry collector on loopback: it takes spans by OTLP over HTTP, as JSON. */
import { startScriptedVendor } from "@oauth-broker/simulators";

/** As in the request, its attributes as a plain object. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** 2: of a request that came in. 3: of one that went out. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 2: an error. */
  readonly status: { readonly code?: number };
}

export interface Collector {
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  /** All of the spans so far. */
  spans(): readonly ReceivedSpan[];
  /** All that arrived: requests and their headers. */
  text(): string;
  close(): Promise<void>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, "attributes"> & { readonly attributes: readonly Attribute[] })[];
    }[];
  }[];
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const { url, received, close } = await startScriptedVendor({
    "*": ({ body }) => {
      for (const { resource, scopeSpans } of (JSON.parse(body) as Sent).resourceSpans) {
        const ofResource = plain(resource.attributes);
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
          spans.push({ ...span, attributes: { ...ofResource, ...plain(span.attributes) } });
        }
      }
      return { body: {} };
    },
  });
  return {
    url,
    spans: () => spans,
    text: () =>
      received
        .map(({ method, path, headers, body }) => `${method} ${path} ${JSON.stringify(headers)}\n${body}`)
        .join("\n"),
    close,
  };
}

function plain(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
