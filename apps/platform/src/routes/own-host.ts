/**
 * Whether a request is addressed to this platform by name. An attacker whose host name resolves to
 * loopback could otherwise read the pages, which have no passwords there: to the browser the
 * attacker's script and our pages would have one origin.
 */
export function isOwnHost(requestUrl: string, platformUrl: string): boolean {
  return new URL(requestUrl).host === new URL(platformUrl).host;
}
