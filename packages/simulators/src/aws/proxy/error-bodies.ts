/**
 * The responses of DynamoDB when it throttles or fails, word for word, so that the SDK's own retries
 * are tested.
 */
import type { ScriptedAnswer } from "../../scripted-vendor.ts";

/**
 * A table may be throttled in two ways: by its own throughput, and by the use of the whole account.
 */
const THROTTLED = [
  {
    __type: "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
    message:
      "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.",
  },
  {
    __type: "com.amazon.coral.availability#ThrottlingException",
    message:
      "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly.",
  },
];

const headers = { "Content-Type": "application/x-amz-json-1.0" };

/** @param count how many were throttled before: the two ways alternate */
export function throttledAnswer(count: number): ScriptedAnswer {
  return { status: 400, headers, body: THROTTLED[count % THROTTLED.length]! };
}

export const FAILED: ScriptedAnswer = {
  status: 500,
  headers,
  body: {
    __type: "com.amazonaws.dynamodb.v20120810#InternalServerError",
    message: "The request processing has failed because of an unknown error, exception or failure.",
  },
};
