/** Sends one event as Standard Webhooks say: the body, and over id, time and body an HMAC for each secret. */
import { createHmac } from "node:crypto";
import type { Clock, Fetch, Timer } from "@oauth-broker/oauth-core";
import type { LinkEvent } from "./outbox.ts";
import type { EventSettings } from "./settings.ts";

export interface DeliverDeps {
  readonly settings: EventSettings;
  /** An egress's, which follows no redirect. */
  readonly fetch: Fetch;
  readonly now: Clock;
  readonly timer: Timer;
}

/** Shorter than the shortest wait between two tries. */
const TIMEOUT_MS = 10_000;

/**
 * @returns the receiver's status: 2xx alone says that it has the event
 * @throws whatever `fetch` does
 */
export async function deliver(event: LinkEvent, { settings, fetch, now, timer }: DeliverDeps): Promise<number> {
  const { id, type, at, ...data } = event;
  const body = JSON.stringify({ type, timestamp: new Date(at * 1000).toISOString(), data });
  const seconds = String(now());
  const signatures = settings.keys.map((key) => {
    const mac = createHmac("sha256", key).update(`${id}.${seconds}.${body}`);
    return `v1,${mac.digest("base64")}`;
  });
  const answer = await fetch(settings.url, {
    method: "POST",
    redirect: "manual",
    signal: timer.timeout(TIMEOUT_MS),
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": seconds,
      "webhook-signature": signatures.join(" "),
    },
    body,
  });
  // The answer is the status; what else the receiver says is not read.
  await answer.body?.cancel();
  return answer.status;
}
