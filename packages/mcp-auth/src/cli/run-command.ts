/**
 * Runs one command of the operator and returns the exit code. start.ts calls it; operator.ts opens
 * the storage.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { answerUsage, type Output, TERMINAL } from "@oauth-broker/oauth-core/command-line";
import { parseCommand } from "./arguments.ts";
import { listLinks, type OperatorLinks } from "./links.ts";
import { openLinks, runTokenStore } from "./operator.ts";
import { revokeLinks } from "./revoke-links.ts";

export interface CommandDeps extends Output {
  /** @throws Error saying why the server has no links */
  readonly openLinks: () => Promise<OperatorLinks>;
  /** @returns the exit code */
  readonly runTokenStore: (args: readonly string[]) => Promise<number>;
}

const FAILED = 1;

const REAL: CommandDeps = { ...TERMINAL, openLinks, runTokenStore };

/**
 * @param version of the server
 * @returns the exit code
 * @throws ConfigError, TokenStoreError: their messages are for the operator
 */
export async function runCommand(args: readonly string[], deps: CommandDeps = REAL, version = ""): Promise<number> {
  const command = parseCommand(args, version);
  if ("exitCode" in command) return answerUsage(command, deps);
  switch (command.name) {
    case "token-store":
      return deps.runTokenStore(command.args);
    case "links list":
      return withLinks(deps, (links) => listLinks(command.user, links, deps));
    case "links revoke":
      return withLinks(deps, (links) => revokeLinks(command, links, deps));
  }
}

async function withLinks(deps: CommandDeps, run: (links: OperatorLinks) => Promise<number>): Promise<number> {
  try {
    const links = await deps.openLinks();
    try {
      return await run(links);
    } finally {
      await links.close();
    }
  } catch (error) {
    // A table or key service is unavailable: the detail that a server logs is printed here.
    if (!(error instanceof OAuthError)) throw error;
    deps.say(error.operatorText);
    return FAILED;
  }
}
