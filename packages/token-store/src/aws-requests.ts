/** How requests to AWS are sent: all that decides how long one takes is set, so that no variable of the SDK changes it. */

/** Sockets of a client. */
export const MOST_SOCKETS = 100;

/** @returns the `requestHandler` of a client of the SDK. @param requestTimeout of one attempt, in milliseconds */
export function awsRequests(requestTimeout = 1500) {
  const agent = { keepAlive: true, maxSockets: MOST_SOCKETS };
  return { connectionTimeout: 500, requestTimeout, throwOnRequestTimeout: true, httpAgent: agent, httpsAgent: agent };
}
