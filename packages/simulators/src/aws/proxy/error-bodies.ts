/**
 * The responses of the services when they throttle or fail, word for word, so that the SDK's own
 * retries are tested.
 */

export interface ErrorAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

type Service = "dynamodb" | "kms";

const CONTENT_TYPES: Readonly<Record<Service, string>> = {
  dynamodb: "application/x-amz-json-1.0",
  kms: "application/x-amz-json-1.1",
};

/**
 * A table may be throttled in two ways: by its own throughput, and by the use of the whole account.
 */
const THROTTLED: Readonly<Record<Service, readonly object[]>> = {
  dynamodb: [
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
  ],
  kms: [
    {
      __type: "ThrottlingException",
      message: "You have exceeded the rate at which you may call KMS. Reduce the frequency of your calls.",
    },
  ],
};

const FAILED: Readonly<Record<Service, object>> = {
  dynamodb: {
    __type: "com.amazonaws.dynamodb.v20120810#InternalServerError",
    message: "The request processing has failed because of an unknown error, exception or failure.",
  },
  kms: { __type: "KMSInternalException", message: "An internal error occurred." },
};

/** @param target the `x-amz-target` header: `DynamoDB_20120810.PutItem`, `TrentService.Decrypt` */
export function serviceOf(target: string): Service {
  return target.startsWith("TrentService.") ? "kms" : "dynamodb";
}

/** @param count how many were throttled before: DynamoDB's two ways alternate */
export function throttledAnswer(service: Service, count: number): ErrorAnswer {
  const bodies = THROTTLED[service];
  return { status: 400, contentType: CONTENT_TYPES[service], body: JSON.stringify(bodies[count % bodies.length]) };
}

export function failedAnswer(service: Service): ErrorAnswer {
  return { status: 500, contentType: CONTENT_TYPES[service], body: JSON.stringify(FAILED[service]) };
}
