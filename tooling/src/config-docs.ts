/** docs/configuration.md, from the rows the broker's own schema gives (`describeConfiguration` in apps/broker/src/config.ts). */
import { generated, table } from "./markdown.ts";

/** One setting; `path` as in `clients[].redirect_uris[]`, `vendors.<id>.name`. */
export interface ConfigurationRow {
  readonly path: string;
  readonly type: string;
  readonly default?: string | undefined;
  readonly description: string;
  readonly example?: string | undefined;
}

export function renderConfiguration(rows: readonly ConfigurationRow[]): string {
  const code = (text = ""): string => (text === "" ? "" : `\`${text}\``);
  return generated(
    "Configuration of the broker",
    "`BROKER_CONFIG` names a YAML file; without it `broker.yaml` in the start directory is read. Any string in it may be `env:NAME` or `file:PATH`, and relative paths are relative to the file. Every problem is reported at once, and the process does not start.",
    "`BASE_URL`, `HOST`, `PORT` and `STORE` stand in for the settings that name them. `VENDOR_<ID>_CLIENT_ID` and `VENDOR_<ID>_CLIENT_SECRET` (the vendor's id in upper case, `-` as `_`) are its credentials where neither the request nor the file brings any.",
    table(
      ["setting", "type", "default", "what it does", "example"],
      rows.map((row) => [code(row.path), row.type, code(row.default), row.description, code(row.example)]),
    ),
  );
}
