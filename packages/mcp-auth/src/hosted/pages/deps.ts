/** The shared dependencies of the pages and flows of links. */
import type { FindServerClient } from "../clients/client.ts";
import type { HostedDeps } from "../deps.ts";
import { type IdentitySource, identitySource } from "../records/identity-source.ts";
import { createPendingTokens, type PendingTokens } from "./pending-tokens.ts";
import { createSignIns, type SignIns } from "./sign-ins.ts";
import { createTickets, type Tickets } from "../tickets/tickets.ts";

export interface Pages extends HostedDeps {
  /** The vendor that signs users in. */
  readonly source: IdentitySource;
  readonly tickets: Tickets;
  readonly signIns: SignIns;
  readonly pendingTokens: PendingTokens;
}

export interface PagesDeps extends Pages {
  readonly findClient: FindServerClient;
}

/** @returns undefined with `VENDOR` */
export function createPages(hosted: HostedDeps): Pages | undefined {
  const { settings, records, serverKey, signInGeneration, now } = hosted;
  const { links, deploymentUrl } = settings;
  if (links.kind === "one") return undefined;
  const source = identitySource(settings);
  const shared = { records, serverKey, signInGeneration, now, deploymentUrl, source };
  return {
    ...hosted,
    source,
    tickets: createTickets({ ...shared, links }),
    signIns: createSignIns(shared),
    pendingTokens: createPendingTokens(shared),
  };
}
