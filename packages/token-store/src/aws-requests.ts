/** How requests to AWS are sent: all that decides how long one takes is set, so that no variable of the SDK changes it. */

/** Sockets of a client. */
export const MOST_SOCKETS = 100;

/** What is wrong with a variable of the SDK, which quotes around its value or a line break do. */
export const NO_URL = "is not a URL: it has no quotation marks and begins with https:// or http://";
export const UNSENDABLE =
  "the AWS credentials have a line break or another character that no header has: set them again";

/** @returns the `requestHandler` of a client of the SDK. @param requestTimeout of one attempt, in milliseconds */
export function awsRequests(requestTimeout = 1500) {
  const agent = { keepAlive: true, maxSockets: MOST_SOCKETS };
  return { connectionTimeout: 500, requestTimeout, throwOnRequestTimeout: true, httpAgent: agent, httpsAgent: agent };
}
