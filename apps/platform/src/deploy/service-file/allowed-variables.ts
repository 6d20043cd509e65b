/**
 * The variables of the deploying process that a server may receive. The server's author names
 * variables in service.yaml, and that file comes with the code: `env:AWS_SECRET_ACCESS_KEY` in it
 * would hand over the deployer's own credentials. The deployer therefore allows each one with
 * `--env NAME`.
 */
import type { Environment } from "@oauth-broker/service/configuration";

/** The environment of the deploying process. */
export interface Given {
  readonly variables: Environment;
  /** The names that `env:NAME` may refer to. */
  readonly allowed: readonly string[];
}

export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const isVariableName = (name: string): boolean => VARIABLE_NAME.test(name);

export function isAllowed(name: string, { allowed }: Pick<Given, "allowed">): boolean {
  return allowed.includes(name);
}
