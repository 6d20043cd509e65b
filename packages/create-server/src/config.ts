/** The only reader of process.env here. */
import { startFolder } from "@oauth-broker/service/configuration";

import { OPTION_NAMES } from "./arguments.ts";

/** The folder the command was started in. */
export function calledIn(): string {
  return startFolder(process.env);
}

/** The options that stood before `--`: npm keeps them from the command and hands on their values. */
export function takenByNpm(): readonly string[] {
  return OPTION_NAMES.filter((name) => process.env[`npm_config_${name}`] !== undefined);
}
