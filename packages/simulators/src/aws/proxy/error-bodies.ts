/**
 * The responses of DynamoDB when it throttles or fails, word for word, so that the SDK's own retries
 * are tested.
 */

export interface ErrorAnswer {
  readonly status: number;
  readonly body: string;
}

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

/** @param count how many were throttled before: the two ways alternate */
export function throttledAnswer(count: number): ErrorAnswer {
  return { status: 400, body: JSON.stringify(THROTTLED[count % THROTTLED.length]) };
}

export const FAILED: ErrorAnswer = {
  status: 500,
  body: JSON.stringify({
    __type: "com.amazonaws.dynamodb.v20120810#InternalServerError",
    message: "The request processing has failed because of an unknown error, exception or failure.",
  }),
};
