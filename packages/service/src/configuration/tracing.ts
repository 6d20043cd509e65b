/**
 * The variables of OpenTelemetry that a service reads and checks. What else begins with `OTEL_`
 * (time limits, compression and certificates of the exporter, attributes of the resource) the SDK
 * reads itself.
 */
import type { EnvironmentReader, VariableShape } from "./environment.ts";
import { checkName } from "./values.ts";

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

const DEFAULT_SAMPLER = "parentbased_always_on";
const DEFAULT_RATIO = "1";
const PROTOCOL = "http/json";

/** Which requests become spans. Where they go, and under which name, the SDK reads itself. */
export interface TracingSettings {
  readonly sampler: (typeof SAMPLERS)[number];
  /** For the samplers by ratio: the share of traces, 0 to 1. */
  readonly ratio: number;
}

/** The variables, as messages and docs/configuration.md show them. */
export const TRACING_VARIABLES = [
  {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    type: "http or https URL without user information, query and fragment",
    description: "The collector that spans are sent to, by OTLP over HTTP; docs/observability.md.",
    example: "http://127.0.0.1:4318",
    default: "none: no spans",
  },
  {
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    type: "name=value, separated by commas; the value percent-encoded",
    description: "Headers of the requests to the collector.",
    example: "api-key=a value from your secret store",
    default: "none",
  },
  {
    name: "OTEL_EXPORTER_OTLP_PROTOCOL",
    type: "http/json",
    description: "The one form in which spans are sent. Another is refused.",
    example: "http/json",
    default: "http/json",
  },
  {
    name: "OTEL_SERVICE_NAME",
    type: "text of at most 100 characters",
    description: "The service that spans name.",
    example: "my-service",
    default: "oauth-broker for the broker, mcp-server for a server",
  },
  {
    name: "OTEL_TRACES_SAMPLER",
    type: "always_on, always_off or traceidratio, or one of them after parentbased_",
    description: "Which requests become spans.",
    example: "parentbased_traceidratio",
    default: "parentbased_always_on",
  },
  {
    name: "OTEL_TRACES_SAMPLER_ARG",
    type: "number from 0 to 1",
    description: "For samplers by ratio: the share of traces.",
    example: "0.1",
    default: "1",
  },
  {
    name: "OTEL_SDK_DISABLED",
    type: "true or false",
    description: "Whether spans are off although a collector is named.",
    example: "true",
    default: "false",
  },
] as const;

/** The name of one of the variables. */
export type TracingVariable = (typeof TRACING_VARIABLES)[number]["name"];

/** The format of one of the variables, for an `EnvironmentReader`. */
export function shapeOfTracing(name: TracingVariable): VariableShape {
  const found = TRACING_VARIABLES.find((one) => one.name === name);
  if (found === undefined) throw new TypeError(`no variable ${name}`);
  return found;
}

/**
 * @param read receives what is wrong, if spans are on: a machine may set the other variables for
 *   all of its services
 * @returns undefined: no spans
 */
export function readTracing(read: EnvironmentReader<TracingVariable>): TracingSettings | undefined {
  if (read.flag("OTEL_SDK_DISABLED") || read.value("OTEL_EXPORTER_OTLP_ENDPOINT") === undefined) return undefined;
  const endpoint = read.text("OTEL_EXPORTER_OTLP_ENDPOINT", checkEndpoint);
  read.list("OTEL_EXPORTER_OTLP_HEADERS", checkHeader);
  read.choice("OTEL_EXPORTER_OTLP_PROTOCOL", [PROTOCOL]);
  read.text("OTEL_SERVICE_NAME", checkName);
  const sampler = read.choice("OTEL_TRACES_SAMPLER", SAMPLERS) ?? DEFAULT_SAMPLER;
  const ratio = Number(read.text("OTEL_TRACES_SAMPLER_ARG", checkRatio) ?? DEFAULT_RATIO);
  return endpoint === undefined ? undefined : { sampler, ratio };
}

function checkEndpoint(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    return "must be an absolute http or https URL";
  // The exporter adds /v1/traces to the end of the text.
  if (url.username !== "" || url.password !== "" || /[?#\s]/.test(text))
    return "must not have user information, a query or a fragment";
  return undefined;
}

function checkHeader(entry: string): string | undefined {
  const [, value] = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+=(.*)$/.exec(entry) ?? [];
  if (value === undefined) return "is not name=value";
  return /^[\x20-\x7e]*$/.test(value) && URL_ENCODED.test(value)
    ? undefined
    : "has a value that is not percent-encoded";
}

/** And no control character in it. */
const URL_ENCODED = /^(?:[^%]|%[2-7][0-9A-Fa-f])*$/;

function checkRatio(text: string): string | undefined {
  return /^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?|\.\d{1,9})$/.test(text) ? undefined : "must be a number from 0 to 1";
}
