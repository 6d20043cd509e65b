/**
 * Runs beside each process of the tour: `node keeper.ts COMMAND`. It is the platform's own; see its
 * deploy/server-process/keeper.ts.
 */
import { keep } from "@oauth-broker/platform/src/deploy/server-process/keeper.ts";

process.exit(await keep(process.argv[2] ?? ""));
