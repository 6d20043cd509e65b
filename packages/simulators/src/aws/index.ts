export { type DynamoDbEngine, startDynamoDb } from "./dynamodb-engine.ts";
export { type KmsServer, startKms } from "./kms/server.ts";
export type { KmsFault } from "./kms/faults.ts";
export { type FaultProxy, startFaultProxy } from "./proxy/fault-proxy.ts";
