/**
 * The text around the problems of a configuration, and the notation of a position in the
 * file.
 */
import { defined } from "@oauth-broker/oauth-core";
import { type ConfigError, configError as errorOf, type Problem } from "@oauth-broker/service/configuration";

export { type ConfigError, isConfigError, type Problem } from "@oauth-broker/service/configuration";
export { nearest } from "@oauth-broker/oauth-core";

export type Path = readonly (string | number)[];

/** @param source the path of the file, or a name for what was read in its place */
export function configError(source: string, problems: readonly Problem[]): ConfigError {
  const next =
    "Correct these, then run `main.js check` to see whether anything is left. Every field is described in docs/configuration.md.";
  return errorOf(problems, { service: "The broker", source, next });
}

/** Notes a problem at a path; at a text that is the name of something outside the file. */
export type Say = (path: Path | string, problem: string, expected?: string, example?: string) => void;

/** @param root what each path continues */
export function sayIn(problems: Problem[], root: Path = []): Say {
  return (at, problem, expected, example) => {
    const path = typeof at === "string" ? at : formatPath([...root, ...at]);
    problems.push({ path, problem, ...defined({ expected, example }) });
  };
}

/** Why a file cannot be read or used, as the end of a sentence. */
export function faultOfFile(error: unknown, use: "read" | "used"): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" ? "does not exist" : `cannot be ${use} (${code ?? "error"})`;
}

/** `["clients", 0, "name"]` → `clients[0].name`. */
export function formatPath(path: Path): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? plain(step) : `.${plain(step)}`))
    .join("");
}

/** A key as it is safe to print: a key in the operator's file can be any text. */
function plain(key: string): string {
  return /^[A-Za-z0-9_.<>-]{1,64}$/.test(key) ? key : JSON.stringify(key.slice(0, 32).replace(/[^\x20-\x7e]/g, "?"));
}
