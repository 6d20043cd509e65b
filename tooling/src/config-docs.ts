/** docs/configuration.md, from the rows the broker's own schema gives (`describeConfiguration` in apps/broker/src/config.ts). */
import { generated, table } from "./markdown.ts";

/** One setting. `path` is dotted (`egress.timeout_ms`), or the name of an environment variable. */
export interface ConfigurationRow {
  readonly path: string;
  readonly type: string;
  /** Absent or empty: there is none. */
  readonly default?: string | undefined;
  readonly description: string;
  readonly example?: string | undefined;
}

export function renderConfiguration(rows: readonly ConfigurationRow[]): string {
  const code = (text: string | undefined): string => (text === undefined || text === "" ? "" : `\`${text}\``);
  const lines = (some: readonly ConfigurationRow[]): string[][] =>
    some.map((row) => [code(row.path), row.type, code(row.default), row.description, code(row.example)]);
  const isVariable = ({ path }: ConfigurationRow): boolean => /^[A-Z][A-Z0-9_<>]*$/.test(path);
  const head = ["", "type", "default", "what it does", "example"];
  return generated(
    "Configuration of the broker",
    "`BROKER_CONFIG` names a YAML file; without it `broker.yaml` in the start directory is read. Any string in it may be `env:NAME` or `file:PATH`. Every problem is reported at once and the process does not start.",
    "## The file",
    table(["setting", ...head.slice(1)], lines(rows.filter((row) => !isVariable(row)))),
    "## Environment variables",
    table(["variable", ...head.slice(1)], lines(rows.filter(isVariable))),
  );
}
