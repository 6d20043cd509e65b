/** Beside each process of the tour: `node keeper.ts COMMAND`. It is the platform's own; see deploy/keeper.ts there. */
import { keep } from "@oauth-broker/platform/src/deploy/keeper.ts";

process.exit(await keep(process.argv[2] ?? ""));
