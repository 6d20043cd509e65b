/**
 * Records and token rows in a DynamoDB table. Its own entry, so that the AWS SDK loads only when
 * chosen.
 */
export { dynamodbRecordStore } from "./record-store.ts";
export type { DynamoDbOptions } from "./table.ts";
export { dynamodbTokenRows } from "./token-rows.ts";
