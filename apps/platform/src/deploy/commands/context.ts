/** What every deploy command receives: the platform's settings and storage, and its outputs. */
import { join, resolve } from "node:path";
import type { Clock } from "@oauth-broker/oauth-core";
import { readTextFile } from "@oauth-broker/service/configuration";
import type { Environment, PlatformConfig } from "../../config.ts";
import type { Storage } from "../../storage.ts";
import type { Given } from "../service-file/allowed-variables.ts";
import { parseServiceFile } from "../service-file/service-file.ts";

export interface CommandContext {
  readonly config: PlatformConfig;
  readonly storage: Storage;
  readonly now: Clock;
  readonly environment: Environment;
  /** The folder that FOLDER is relative to. */
  readonly start: string;
  /** Prints to the operator, on stderr. */
  readonly say: (text: string) => void;
  /** Prints the result of the command, on stdout. */
  readonly print: (text: string) => void;
}

/** Its folder is an absolute path. */
export type Project = ReturnType<typeof readProject>;

/**
 * @param given the variables for `env:NAME`; absent: references are left as they are
 * @throws ConfigError; Error without a service.yaml
 */
export function readProject(folder: string, { start }: Pick<CommandContext, "start">, given?: Given) {
  const project = resolve(start, folder);
  const file = join(project, "service.yaml");
  let text: string;
  try {
    text = readTextFile(file);
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    if (!["ENOENT", "ENOTDIR"].includes(code)) throw new Error(`${file} cannot be read (${code})`, { cause });
    throw new Error(`There is no service.yaml in ${project}. Name the folder of a server's project.`, { cause });
  }
  return { folder: project, service: parseServiceFile(text, file, given) };
}

export const logFileOf = ({ dataDir }: PlatformConfig, connectorId: string): string =>
  join(dataDir, "servers", connectorId, "server.log");
