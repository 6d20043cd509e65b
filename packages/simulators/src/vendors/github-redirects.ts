/**
 * Which callback addresses GitHub takes.
 * Seen (docs.github.com "Authorizing OAuth apps", Redirect URLs, read 2026-11-21): left out means
 * the registered one; a loopback callback fits any port; the older rule, host without its
 * subdomains, same port and a path at or below.
 * Seen (https://github.com/orgs/community/discussions/204963): several callbacks, wildcards per
 * callback.
 */
import type { GitHubClient } from "./github-state.ts";

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** @returns the URL to send the browser to; undefined when it is not one of the app's */
export function registeredRedirect(client: GitHubClient, asked: string | undefined): string | undefined {
  if (asked === undefined) return client.redirectUris[0];
  const fits = client.redirectUris.some(
    (registered) => isSame(registered, asked) || isWildcard(client, registered, asked),
  );
  return fits ? asked : undefined;
}

function isSame(registered: string, asked: string): boolean {
  if (registered === asked) return true;
  if (!URL.canParse(asked)) return false;
  const [known, given] = [new URL(registered), new URL(asked)];
  if (!LOOPBACK_HOSTS.has(known.hostname) || known.protocol !== "http:") return false;
  known.port = given.port;
  return known.href === given.href;
}

function isWildcard(client: GitHubClient, registered: string, asked: string): boolean {
  if (client.wildcardRedirects !== true || !URL.canParse(asked)) return false;
  const [known, given] = [new URL(registered), new URL(asked)];
  const isHost = given.hostname === known.hostname || given.hostname.endsWith(`.${known.hostname}`);
  const isBelow =
    given.pathname === known.pathname || given.pathname.startsWith(`${known.pathname.replace(/\/$/, "")}/`);
  return given.protocol === known.protocol && given.port === known.port && isHost && isBelow;
}
