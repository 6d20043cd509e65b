/** The environment variables that tests with the AWS stand-ins read. */

/**
 * @returns the shared DynamoDB Local to use instead of dynalite. scripts/dynamodb-local.mjs sets
 *   it.
 */
export function dynamoDbLocalEndpoint(): string | undefined {
  const endpoint = process.env["DYNAMODB_LOCAL_ENDPOINT"];
  return endpoint === undefined || endpoint === "" ? undefined : endpoint;
}
