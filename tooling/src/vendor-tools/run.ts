/** One run of the vendor tools: words in, lines and an exit code out. Called by main.ts. */
import type { World } from "./environment.ts";
import { runNew } from "./new.ts";
import { type Command, parseCommand } from "./options.ts";
import { runProbe } from "./probe.ts";
import { isRefusal } from "./refusal.ts";
import { runTry } from "./try.ts";

/** @param args without program and script @returns the exit code; anything thrown is a mistake of ours */
export async function runVendor(args: readonly string[], world: World): Promise<number> {
  try {
    return await run(parseCommand(args), world);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    world.tell(error.message);
    return error.exitCode;
  }
}

async function run(command: Command, world: World): Promise<number> {
  switch (command.name) {
    case "help":
      world.print(command.text);
      return 0;
    case "new":
      return runNew(command, world);
    case "probe":
      return runProbe(command, world);
    case "try":
      return runTry(command, world);
  }
}
