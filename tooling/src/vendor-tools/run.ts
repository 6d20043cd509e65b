/**
 * One run of the vendor tools: takes arguments, prints lines and returns an exit code. Called by
 * main.ts.
 */
import type { Environment } from "./environment.ts";
import { parseCommand } from "./options.ts";
import { isRefusal } from "./refusal.ts";

/**
 * @param args the arguments without program and script
 * @returns the exit code; any other exception is a bug
 */
export async function runVendor(args: readonly string[], environment: Environment): Promise<number> {
  try {
    return await parseCommand(args)(environment);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    environment.tell(error.message);
    return error.exitCode;
  }
}
