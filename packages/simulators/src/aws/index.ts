export { startDynamoDb } from "./dynamodb-engine.ts";
export type { DynamoDbEngine } from "./dynamodb-engine.ts";
