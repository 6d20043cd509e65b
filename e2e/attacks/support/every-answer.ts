/**
 * What holds for every single answer of the broker in every test (bar#CB-14): it
 * redirects by 303, to one of three kinds of places, and no token, vendor code or secret is in
 * a URL. fixture.ts checks all answers when its test ends, except in twins, which break things on
 * purpose.
 */
import type { FakeVendor } from "@oauth-broker/simulators";
import { BASE_URL, type Exchange, PLATFORMS, VENDOR_CLIENT } from "./names.ts";

/** How often defences were removed so far. The answers in a test that does so may be anything. */
export const twins = { ran: 0 };

interface Answered {
  readonly exchanges: readonly Exchange[];
  readonly vendors: readonly FakeVendor[];
}

/** @returns what is wrong with any of them, in words */
export function faultsOf({ exchanges, vendors }: Answered): string[] {
  const secrets = [
    VENDOR_CLIENT.clientSecret,
    ...Object.values(PLATFORMS).map(({ secret }) => secret),
    ...vendors.flatMap(({ tokens }) => tokens),
  ];
  const vendorCodes = vendors.flatMap(({ codes }) => codes);
  return exchanges.flatMap((exchange) => {
    const { method, url, status, headers, body } = exchange;
    const location = headers.get("location");
    const what = `${method} ${new URL(url, BASE_URL).pathname} → ${status}`;
    const isReturn = method === "POST" && /^\/v1\/(?:custom\/[\w-]{22}\/)?callback\?/.test(location ?? "");
    const forbidden = isReturn ? secrets : [...secrets, ...vendorCodes];
    return [
      ...(status >= 300 && status < 400 && status !== 303 ? [`${what}: not a 303`] : []),
      ...((status === 303) === (location === null) ? [`${what}: a redirect without Location, or the reverse`] : []),
      ...(location === null || isReturn || isAllowed(location, vendors)
        ? []
        : [`${what}: goes to ${location.slice(0, 80)}`]),
      ...(forbidden.some((value) => location?.includes(value)) ? [`${what}: a secret in Location`] : []),
      ...(headers.has("refresh") || /http-equiv|<script|<base/i.test(body)
        ? [`${what}: redirects in another way`]
        : []),
      ...(headers.get("cache-control") === "no-store" ? [] : [`${what}: may be cached`]),
    ];
  });
}

function isAllowed(location: string, vendors: readonly FakeVendor[]): boolean {
  const redirectUris = Object.values(PLATFORMS).map(({ redirectUri }) => redirectUri);
  const authorizationEndpoints = vendors.map(({ origin }) => `${origin}/authorize`);
  return [...redirectUris, ...authorizationEndpoints].some((place) => location.startsWith(`${place}?`));
}
