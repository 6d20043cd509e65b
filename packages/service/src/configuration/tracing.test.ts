import { expect, it } from "vitest";
import { createEnvironmentReader, type Environment } from "./environment.ts";
import { readTracing, shapeOfTracing, TRACING_VARIABLES } from "./tracing.ts";

function read(environment: Environment) {
  const reader = createEnvironmentReader(environment, shapeOfTracing);
  return { tracing: readTracing(reader), problems: reader.problems };
}

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

it("reads where spans go, and which", () => {
  expect(read({})).toEqual({ tracing: undefined, problems: [] });
  expect(read(ENDPOINT).tracing).toEqual({ sampler: "parentbased_always_on", ratio: 1 });
  expect(
    read({
      ...ENDPOINT,
      OTEL_SERVICE_NAME: "broker-eu",
      OTEL_TRACES_SAMPLER: "traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b, x-team=blue",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    }),
  ).toEqual({ tracing: { sampler: "traceidratio", ratio: 0.25 }, problems: [] });
  const ofOthers = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_TRACES_SAMPLER: "jaeger_remote" };
  expect(read(ofOthers)).toEqual({ tracing: undefined, problems: [] });
  expect(read({ ...ENDPOINT, ...ofOthers, OTEL_SDK_DISABLED: "true" })).toEqual({ tracing: undefined, problems: [] });
  expect(read({ ...ENDPOINT, OTEL_EXPORTER_OTLP_TIMEOUT: "soon" }).problems).toEqual([]);
});

it("its examples pass", () => {
  const examples = TRACING_VARIABLES.map(({ name, example }) => [name, example] as const);
  const { tracing, problems } = read({ ...Object.fromEntries(examples), OTEL_SDK_DISABLED: "false" });
  expect(problems).toEqual([]);
  expect(tracing).toEqual({ sampler: "parentbased_traceidratio", ratio: 0.1 });
});

it.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://collector:4317"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "https://user:secret@collector.example"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example/?key=secret"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example/#secret"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "secret"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api key=secret"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret%zz"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret\nx: y"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret%0d%0ax: y"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
  ["OTEL_SERVICE_NAME", "a\nb"],
  ["OTEL_TRACES_SAMPLER", "sometimes"],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
  ["OTEL_TRACES_SAMPLER_ARG", "-0.5"],
  ["OTEL_TRACES_SAMPLER_ARG", "NaN"],
  ["OTEL_SDK_DISABLED", "yes"],
])("refuses %s=%j, and does not repeat it", (name, value) => {
  const { problems } = read({ ...ENDPOINT, [name]: value });
  expect(problems.map(({ path }) => path)).toEqual([name]);
  expect(problems[0]?.problem).not.toMatch(/secret/);
});
