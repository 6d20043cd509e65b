/** How an environment is refused. */
import { type ConfigError, isConfigError } from "@oauth-broker/service/configuration";
import { type Environment, loadSettings } from "../config.ts";

/** @throws Error when it is accepted */
export function refusalOf(environment: Environment): ConfigError {
  try {
    loadSettings(environment);
  } catch (error) {
    if (isConfigError(error)) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

/** One line for each problem. */
export function problemsOf(environment: Environment): string[] {
  return refusalOf(environment).problems.map(({ path, problem }) => `${path} ${problem}`);
}
