/**
 * One call of an AWS JSON protocol by plain fetch. The engines require a signature and do not
 * verify it, so a well-formed dummy is enough: the simulators need no AWS SDK, and a fault of the
 * SDK cannot hide in their own tests.
 */

export interface AwsJsonCall {
  readonly endpoint: string;
  readonly service: "dynamodb" | "kms";
  readonly region: string;
  readonly operation: string;
  readonly input: object;
}

interface Protocol {
  readonly targetPrefix: string;
  readonly contentType: string;
}

const PROTOCOLS: Readonly<Record<AwsJsonCall["service"], Protocol>> = {
  dynamodb: { targetPrefix: "DynamoDB_20120810", contentType: "application/x-amz-json-1.0" },
  kms: { targetPrefix: "TrentService", contentType: "application/x-amz-json-1.1" },
};

/**
 * The access key of every test. DynamoDB Local separates the data of different access keys and
 * regions.
 */
const ACCESS_KEY_ID = "test";
const DATE = "20260101";

/** @returns headers as SigV4 makes them, with a signature of zeros */
export function dummySignedHeaders({
  service,
  region,
  operation,
}: Pick<AwsJsonCall, "service" | "region" | "operation">): Record<string, string> {
  const { targetPrefix, contentType } = PROTOCOLS[service];
  return {
    "content-type": contentType,
    "x-amz-target": `${targetPrefix}.${operation}`,
    "x-amz-date": `${DATE}T000000Z`,
    authorization: `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY_ID}/${DATE}/${region}/${service}/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=${"0".repeat(64)}`,
  };
}

/**
 * @returns the parsed response
 * @throws Error whose `name` is the AWS error (`ResourceNotFoundException`) when the response is
 *   not 200
 */
export async function callAwsJson(call: AwsJsonCall): Promise<Record<string, unknown>> {
  const answer = await fetch(call.endpoint, {
    method: "POST",
    headers: dummySignedHeaders(call),
    body: JSON.stringify(call.input),
  });
  const body = (await answer.json()) as Record<string, unknown>;
  if (answer.status === 200) return body;
  const error = new Error(`${call.operation}: ${String(body["message"] ?? body["Message"])}`);
  error.name = String(body["__type"]).replace(/^.*#/, "");
  throw error;
}
