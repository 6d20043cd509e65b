/**
 * docs/configuration.md, generated from the broker's own schema (`describeConfiguration` in
 * apps/broker/src/config.ts) and the table of a server's variables (`describeVariables` in
 * packages/mcp-auth/src/config.ts).
 */
import type { describeConfiguration } from "@oauth-broker/broker/src/config.ts";
import type { describeVariables } from "../../../packages/mcp-auth/src/config.ts";
import { generated } from "./markdown.ts";
import { table } from "../tables.ts";

type ConfigurationRow = ReturnType<typeof describeConfiguration>[number];
type VariableRow = ReturnType<typeof describeVariables>[number];

export function renderConfiguration(rows: readonly ConfigurationRow[], variables: readonly VariableRow[]): string {
  const code = (text = ""): string => (text === "" ? "" : `\`${text}\``);
  return generated(
    "Configuration",
    "## The broker",
    "`BROKER_CONFIG` names a YAML file; without it `broker.yaml` in the start directory is read. Any string in it may be `env:NAME` or `file:PATH`, and relative paths are relative to the file. Every problem is reported at once, and the process does not start.",
    "`BASE_URL`, `HOST`, `PORT` and `STORE` replace the settings that name them. `VENDOR_<ID>_CLIENT_ID` and `VENDOR_<ID>_CLIENT_SECRET` (the vendor's id in upper case, `-` as `_`) are its credentials when neither the request nor the file has any. In an id or a secret from any source, a byte order mark and the line ends after it are dropped; other white space or a quotation mark around it, and a control character, are refused. The variables of traces, `OTEL_…`, are those of the table below.",
    table(
      ["setting", "type", "default", "what it does", "example"],
      rows.map((row) => [code(row.path), row.type, code(row.default), row.description, code(row.example)]),
    ),
    "## Servers made from the template",
    "A server is configured by its environment alone. Every problem is reported at once, and the process does not start; a variable that is set to nothing is not set. Ids and secrets are read as the broker reads them. Names with these prefixes (other than `DATA_`, `MAX_`, `METRICS_` and `SIGN_`) that are not in the table, and variables that have no effect, cause a warning.",
    "AWS endpoints and credentials come from the AWS SDK's own variables; the key's region from its ARN, else `DB_TABLE_REGION`.",
    table(
      ["variable", "modes", "shape", "default", "what it does", "example"],
      variables.map((row) => [
        code(row.name),
        row.use ?? "",
        row.type,
        `${row.default ?? ""}`,
        row.description,
        code(row.example),
      ]),
    ),
  );
}
