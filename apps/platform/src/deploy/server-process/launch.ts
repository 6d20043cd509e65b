/**
 * What a server process is started with. Its command: the project's own `start` script, or the file
 * that `npm run build` makes. Its whole environment: what the author wrote, what the platform
 * injects, and the paths of tools.
 */
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { ServiceFile } from "../service-file/service-file.ts";
import type { Table } from "../table.ts";

const BUILT = join("dist", "main.js");

/** @throws Error for the author, when there is nothing to start */
export function startCommand(folder: string): string {
  const script = startScript(folder);
  if (script !== undefined) return script;
  if (existsSync(join(folder, BUILT))) return `node ${BUILT}`;
  throw new Error(
    `There is nothing to start in ${folder}: package.json has no "start" script, and ${BUILT} does not exist. Build the server first.`,
  );
}

/**
 * `node` is the one that runs this process, and the project's own tools are on PATH, as with npm.
 */
export function commandPath(folder: string, path: string | undefined): string {
  const first = [join(folder, "node_modules", ".bin"), dirname(process.execPath)];
  return [...first, ...(path === undefined ? [] : [path])].join(delimiter);
}

function startScript(folder: string): string | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  try {
    const { scripts } = JSON.parse(readFileSync(file, "utf8")) as { readonly scripts?: { readonly start?: unknown } };
    return typeof scripts?.start === "string" && scripts.start.trim() !== "" ? scripts.start : undefined;
  } catch (cause) {
    throw new Error(`${file} cannot be read as JSON`, { cause });
  }
}

export interface Injected {
  readonly deploymentUrl: string;
  readonly callbackUrl: string;
  readonly port: number;
  readonly table: Omit<Table, "close"> | undefined;
  /** From the environment of the deploying process, only what programs need to run. */
  readonly system: Readonly<Record<string, string>>;
}

export function serverEnvironment(
  { environment, mode }: Pick<ServiceFile, "environment" | "mode">,
  { deploymentUrl, callbackUrl, port, table, system }: Injected,
): Readonly<Record<string, string>> {
  return {
    ...system,
    // The ingress connects from this machine and forwards the caller's address.
    TRUSTED_PROXIES: "127.0.0.0/8",
    ...environment,
    ...(mode === "none" ? {} : { OAUTH_MODE: mode }),
    DEPLOYMENT_URL: deploymentUrl,
    PLATFORM_OAUTH_CALLBACK_URL: callbackUrl,
    HOST: "127.0.0.1",
    PORT: String(port),
    ...(table && {
      ...table.sdk,
      DB_TABLE_NAME: table.name,
      DB_TABLE_REGION: table.region,
      TOKEN_ENCRYPTION_KMS_KEY_ID: table.keyArn,
      TOKEN_ENCRYPTION_MODE: table.mode,
    }),
  };
}
