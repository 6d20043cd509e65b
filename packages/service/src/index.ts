/** The frame that all our services share: the process, its log, the listener, and work in the background. */
export { type Change, changeRecord, type ChangeOptions } from "./change-record.ts";
export { createLog, errorFields, jsonText, type Log, type LogFieldName, type LogFields } from "./log.ts";
export { isPrefetch } from "./listener/prefetch.ts";
export { networkOf, plainAddress } from "./listener/peer-network.ts";
export { explainStartFailure, inTool, onStopSignal, runService, toolOfContext } from "./run-service.ts";
export { startSweep, type Sweep } from "./start-sweep.ts";
export { bufferedStdout, type LogDestination } from "./stdout.ts";
export { HTTP_TIMEOUTS, type HttpTimeouts, listen, type Listening, type ListenOptions } from "./serve.ts";
