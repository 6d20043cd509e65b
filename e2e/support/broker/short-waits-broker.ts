/**
 * The serving broker with shorter waits than an operator's: without the grace after SIGTERM, and
 * with a fifth of the time for slow clients. Everything else is as apps/broker/src/main.ts does it.
 * built-services.ts bundles it; tests start it with `entry: "short-waits"`.
 */
import { loadConfig, readEnvironment } from "@oauth-broker/broker/src/config.ts";
import { start } from "@oauth-broker/broker/src/start.ts";
import { bufferedStdout, createLog, runService } from "@oauth-broker/service";
import { SHORT_HTTP_TIMEOUTS } from "./short-waits.ts";

const stdout = bufferedStdout();
const log = createLog(stdout);
const config = loadConfig(readEnvironment(), process.cwd());
await runService(() => start(config, log, { graceMs: 0, httpTimeouts: SHORT_HTTP_TIMEOUTS, stdout }), log);
