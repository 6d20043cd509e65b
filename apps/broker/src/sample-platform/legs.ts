/**
 * The legs of one flow and what each checked: the platform's own, which it knows, between the
 * broker's, which come from the broker's record. Times have one-second resolution, so the order is
 * that of the protocol, not of the clock.
 */
import { html, type Markup } from "@oauth-broker/service/page";
import type { Leg } from "./sessions.ts";

export interface ShownLeg extends Leg {
  readonly who: "platform" | "broker";
  readonly title: string;
}

const PLATFORM_LEGS: Readonly<Record<string, { readonly title: string; readonly rank: number }>> = {
  asked: { title: "The platform prepares the request", rank: 0 },
  returned: { title: "The browser is back at the platform", rank: 5 },
  received: { title: "The platform receives the tokens", rank: 7 },
};

const BROKER_LEGS: Readonly<Record<string, { readonly title: string; readonly rank: number }>> = {
  pushed: { title: "The broker accepts the pushed request", rank: 1 },
  started: { title: "The broker sends the browser to the vendor", rank: 2 },
  parked: { title: "The vendor sends the browser back; its code is parked", rank: 3 },
  failed: { title: "The broker ends the flow", rank: 4 },
  spent: { title: "The broker redeems the vendor's code", rank: 6 },
};

const LAST_RANK = 8;

export function orderLegs(platform: readonly Leg[], broker: readonly Leg[]): readonly ShownLeg[] {
  const shown = [
    ...platform.map((leg) => ({ ...leg, who: "platform" as const, ...named(PLATFORM_LEGS, leg) })),
    ...broker.map((leg) => ({ ...leg, who: "broker" as const, ...named(BROKER_LEGS, leg) })),
  ];
  return shown.toSorted((a, b) => a.rank - b.rank || a.at - b.at);
}

function named(names: typeof BROKER_LEGS, { leg }: Leg): { readonly title: string; readonly rank: number } {
  return (Object.hasOwn(names, leg) ? names[leg] : undefined) ?? { title: leg, rank: LAST_RANK };
}

/** @param vendor its name */
export function checks(legs: readonly ShownLeg[], vendor: string, flowId: string | undefined): Markup {
  return html`<section class="card" aria-labelledby="checks">
    <h2 id="checks">What was checked on each leg</h2>
    <table>
      <caption>
        ${vendor}, ${flowId === undefined ? "the last flow" : html`flow <code>${flowId}</code>`}, in order. The
        broker's lines come from its record of the flow.
      </caption>
      <thead>
        <tr>
          <th scope="col">Leg</th>
          <th scope="col">Checks</th>
        </tr>
      </thead>
      <tbody>
        ${legs.map(legRow)}
      </tbody>
    </table>
  </section>`;
}

function legRow({ title, who, at, checks: passed, reason }: ShownLeg): Markup {
  const time = new Date(at * 1000).toISOString();
  return html`<tr>
    <th scope="row">
      <strong>${title}</strong
      ><span class="soft">${who}, <time datetime="${time}">${time.slice(11, 19)} UTC</time></span>
    </th>
    <td>
      ${reason === undefined ? "" : html`<code>${reason}</code>`}
      ${
        passed.length === 0
          ? ""
          : html`<ul>
              ${passed.map((check) => html`<li>${check}</li>`)}
            </ul>`
      }
    </td>
  </tr>`;
}
