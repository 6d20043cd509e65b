/** What every deploy command has: the platform's settings and storage, and a way to speak. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Clock } from "@oauth-broker/oauth-core";
import type { Environment, PlatformConfig } from "../../config.ts";
import type { Storage } from "../../storage.ts";
import type { Given } from "../service-file/allowed-variables.ts";
import { parseServiceFile, type ServiceFile } from "../service-file/service-file.ts";

export interface CommandContext {
  readonly config: PlatformConfig;
  readonly storage: Storage;
  readonly now: Clock;
  readonly environment: Environment;
  /** Where FOLDER is relative to. */
  readonly start: string;
  /** To the operator, on stderr. */
  readonly say: (text: string) => void;
  /** The command's result, on stdout. */
  readonly print: (text: string) => void;
}

/**
 * @param given for `env:NAME`; absent: they are left as they are
 * @throws ConfigError; Error where there is no service.yaml
 */
export function readProject(
  folder: string,
  { start }: Pick<CommandContext, "start">,
  given?: Given,
): { readonly folder: string; readonly service: ServiceFile } {
  const project = resolve(start, folder);
  const file = join(project, "service.yaml");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new Error(`There is no service.yaml in ${project}: name the folder of a server's project.`, { cause });
  }
  return { folder: project, service: parseServiceFile(text, file, given) };
}

export const logFileOf = ({ dataDir }: PlatformConfig, connectorId: string): string =>
  join(dataDir, "servers", connectorId, "server.log");
