/**
 * Which variables of the deploying process a server may have. The server's author names them in
 * service.yaml, and the file comes with the code: `env:AWS_SECRET_ACCESS_KEY` there would hand the
 * deployer's own credentials over. So the one who deploys says which, with `--env NAME`.
 */
import type { Environment } from "@oauth-broker/oauth-core/configuration";

/** Of the process that deploys. */
export interface Given {
  readonly variables: Environment;
  /** The names of those that `env:NAME` may refer to. */
  readonly allowed: readonly string[];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const isVariableName = (name: string): boolean => NAME.test(name);

export function isAllowed(name: string, { allowed }: Pick<Given, "allowed">): boolean {
  return allowed.includes(name);
}
