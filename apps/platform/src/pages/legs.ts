/**
 * The legs of a user's last flow and what each checked: the platform's own, which it knows, between
 * the broker's, which come from the broker's record. Times have one-second resolution, so the order
 * is that of the protocol, not of the clock.
 */
import type { EpochSeconds } from "@oauth-broker/oauth-core";
import { html, type Markup } from "@oauth-broker/service/page";
import type { Connector } from "../connectors/connector.ts";
import type { LastFlow } from "../oauth/connections.ts";

export interface BrokerLeg {
  readonly leg: string;
  readonly at: EpochSeconds;
  readonly checks: readonly string[];
  /** Why the flow ended here, when it did. */
  readonly reason?: string;
}

/** In the order of the protocol. */
const LEGS: Readonly<Record<string, readonly [who: string, title: string]>> = {
  asked: ["platform", "The platform prepares the request"],
  pushed: ["broker", "The broker accepts the pushed request"],
  started: ["broker", "The broker sends the browser to the vendor"],
  parked: ["broker", "The vendor sends the browser back; its code is parked"],
  failed: ["broker", "The broker ends the flow"],
  returned: ["platform", "The browser is back at the platform"],
  spent: ["broker", "The broker redeems the vendor's code"],
  received: ["platform", "The platform receives the tokens"],
};
const ORDER = Object.keys(LEGS);

export interface LegsPanel {
  readonly flow: LastFlow;
  /** The broker's. */
  readonly legs: readonly BrokerLeg[];
  readonly hasIdToken: boolean;
}

export function legsPanel({ name }: Connector, { flow, legs, hasIdToken }: LegsPanel): Markup {
  const rows = [...ownLegs(flow, hasIdToken), ...legs].toSorted((a, b) => ORDER.indexOf(a.leg) - ORDER.indexOf(b.leg));
  return html`<section aria-labelledby="checks"><h2 id="checks">What was checked on each leg</h2>
<table><caption class="quiet">${name}, ${flow.id === undefined ? "the last flow" : html`flow <code>${flow.id}</code>`}, in order. The broker's lines come from its record of the flow.</caption>
<thead><tr><th scope="col">Leg</th><th scope="col">Checks</th></tr></thead>
<tbody>${rows.map(legRow)}</tbody></table></section>`;
}

function ownLegs({ startedAt, endedAt, isConnected }: LastFlow, hasIdToken: boolean): readonly BrokerLeg[] {
  const asked = [
    "state and PKCE verifier wait for this browser's own session, sealed",
    "request pushed by the backend, not carried by the browser",
  ];
  const received = [
    "iss is the broker",
    "code redeemed with the PKCE verifier of this flow",
    "the answer is a well-formed token response",
    // The broker passes an ID token on only after that.
    ...(hasIdToken ? ["ID token verified by the broker: signature, issuer, audience, nonce"] : []),
  ];
  return [
    { leg: "asked", at: startedAt, checks: asked },
    { leg: "returned", at: endedAt, checks: ["state belongs to this browser's session, used once"] },
    ...(isConnected ? [{ leg: "received", at: endedAt, checks: received }] : []),
  ];
}

function legRow({ leg, at, checks, reason }: BrokerLeg): Markup {
  const [who, title] = LEGS[leg] ?? ["broker", leg];
  const time = new Date(at * 1000).toISOString();
  const passed = checks.length === 0 ? undefined : html`<ul>${checks.map((check) => html`<li>${check}</li>`)}</ul>`;
  return html`<tr><th scope="row">${title} <span class="quiet">${who}, <time datetime="${time}">${time.slice(11, 19)} UTC</time></span></th>
<td>${reason === undefined ? undefined : html`<code>${reason}</code>`}${passed}</td></tr>`;
}
