/**
 * A rough answer to "can anyone register a name directly below this?", without carrying the public suffix list.
 * It errs towards yes: a yes only costs the shared redirect URI (tier 3), a wrong no would cost the safety of tier 1.
 */

/** Second levels that registries sell below, under any two-letter country domain. */
const SECOND_LEVEL =
  /^(?:ac|asn|asso|biz|co|com|conf|edu|firm|gen|go|gob|gouv|gov|govt|gv|id|ind|info|ltd|me|mil|mobi|name|ne|net|nhs|nom|or|org|plc|press|pro|sch|school|store|web)\.[a-z]{2}$/;

/** Private registries that sell below a domain that looks like a company's. */
const RESOLD =
  /^(?:(?:br|cn|co|de|eu|gb|gr|jpn|kr|mex|ru|sa|uk|us|uy|za)\.com|(?:gb|hu|in|jp|se|uk)\.net|(?:ae|us)\.org)$/;

/** Hosts under which a customer of the hoster picks the next label. */
const HOSTING = new Set([
  "amplifyapp.com",
  "appspot.com",
  "azurecontainerapps.io",
  "azurefd.net",
  "azurestaticapps.net",
  "azurewebsites.net",
  "b-cdn.net",
  "cloudfront.net",
  "cloudfunctions.net",
  "deno.dev",
  "deno.net",
  "duckdns.org",
  "firebaseapp.com",
  "fly.dev",
  "github.io",
  "gitlab.io",
  "herokuapp.com",
  "loca.lt",
  "netlify.app",
  "ngrok-free.app",
  "ngrok-free.dev",
  "ngrok.app",
  "ngrok.dev",
  "ngrok.io",
  "nip.io",
  "ondigitalocean.app",
  "onrender.com",
  "pages.dev",
  "pythonanywhere.com",
  "replit.app",
  "replit.dev",
  "run.app",
  "sslip.io",
  "trafficmanager.net",
  "trycloudflare.com",
  "ts.net",
  "vercel.app",
  "vercel.dev",
  "web.app",
  "workers.dev",
  "xip.io",
]);

/** @param suffix labels joined by dots, lower case, without a leading dot */
export function isPublicSuffix(suffix: string): boolean {
  return !suffix.includes(".") || SECOND_LEVEL.test(suffix) || RESOLD.test(suffix) || HOSTING.has(suffix);
}
