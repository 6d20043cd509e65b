/** Where reconnect events go: `EVENTS_URL` and `EVENTS_SECRET`, the same for every service that sends them. */
import { createSecretKey, type KeyObject } from "node:crypto";
import { checkEgressUrl } from "@oauth-broker/oauth-core/egress";
import { type EnvironmentReader, splitList } from "../configuration/index.ts";

/** The receiver of events, and what they are signed with. */
export interface EventSettings {
  readonly url: string;
  /** HMAC keys: one, or two while they are rotated. */
  readonly keys: readonly KeyObject[];
}

/** The variables, as messages and docs/configuration.md show them. */
export const EVENT_VARIABLES = [
  {
    name: "EVENTS_URL",
    type: "https URL without user information and fragment",
    description:
      "Receives an event when a user's link dies (`link.dead`) and when it is back (`link.restored`), signed as Standard Webhooks say, at least once; docs/reconnect-events.md.",
    example: "https://platform.example.com/webhooks/links",
    default: "none: no events",
  },
  {
    name: "EVENTS_SECRET",
    type: "whsec_ and 24 to 64 bytes in base64; two, separated by a comma, while they are rotated",
    description: "What events are signed with. Each secret makes a signature, so that the receiver may know either.",
    example: "whsec_… from your secret store",
    default: "none",
  },
] as const;

/** The name of one of the variables. */
export type EventVariable = (typeof EVENT_VARIABLES)[number]["name"];

const MOST_SECRETS = 2;
const LONGEST_URL = 2_048;

/**
 * @param rules what this service may reach
 * @returns undefined: no events
 */
export function readEvents(
  read: EnvironmentReader<EventVariable>,
  rules: { readonly allowLoopback: boolean; readonly allowCidrs: readonly string[] },
): EventSettings | undefined {
  const url = read.text("EVENTS_URL", (text) => checkEventsUrl(text, rules));
  const secrets = read.secret("EVENTS_SECRET", checkSecrets);
  const [hasUrl, hasSecret] = [read.value("EVENTS_URL") !== undefined, read.value("EVENTS_SECRET") !== undefined];
  if (hasUrl && !hasSecret) read.refuse("EVENTS_SECRET", "is missing beside EVENTS_URL: no event leaves unsigned");
  if (hasSecret && !hasUrl) read.refuse("EVENTS_URL", "is missing beside EVENTS_SECRET");
  if (url === undefined || secrets === undefined) return undefined;
  return { url, keys: keysOf(secrets) };
}

//= bar#EG-7
function checkEventsUrl(text: string, rules: Parameters<typeof readEvents>[1]): string | undefined {
  if (text.length > LONGEST_URL) return `must have at most ${LONGEST_URL} characters`;
  const url = URL.parse(text);
  if (url !== null && (url.username !== "" || url.password !== "" || text.includes("#")))
    return "must not have user information or a fragment";
  return checkEgressUrl(text, { ...rules, anyPort: true });
}

function checkSecrets(text: string): string | undefined {
  const { length } = splitList(text);
  if (length > MOST_SECRETS) return "must hold at most two secrets";
  return length > 0 && keysOf(text).length === length ? undefined : "must be whsec_ and 24 to 64 bytes in base64";
}

const [FEWEST_BYTES, MOST_BYTES] = [24, 64];

/** @param text secrets as Standard Webhooks write them; anything else is left out */
function keysOf(text: string): KeyObject[] {
  return splitList(text).flatMap((secret) => {
    const bytes = Buffer.from(/^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? "", "base64");
    return bytes.length >= FEWEST_BYTES && bytes.length <= MOST_BYTES ? [createSecretKey(bytes)] : [];
  });
}
