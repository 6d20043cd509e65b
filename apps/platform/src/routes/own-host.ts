/**
 * Whether a request is for this platform by name. Pages on loopback without passwords are anybody's who can have a name of theirs
 * resolve to loopback: to the browser their script and our pages would be of one origin.
 */
export function isOwnHost(requestUrl: string, platformUrl: string): boolean {
  return new URL(requestUrl).host === new URL(platformUrl).host;
}
