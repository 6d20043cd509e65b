export { startDynamoDb } from "./dynamodb-engine.ts";
export type { DynamoDbEngine } from "./dynamodb-engine.ts";
export { startKms } from "./kms/server.ts";
export type { KmsServer } from "./kms/server.ts";
export type { KmsFault } from "./kms/faults.ts";
export { startFaultProxy } from "./proxy/fault-proxy.ts";
export type { FaultProxy } from "./proxy/fault-proxy.ts";
