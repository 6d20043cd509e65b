/** A client as the consent page and the redirect check know it, wherever it was found. */
import type { HostedClient } from "./client.ts";

export interface ServerClient extends HostedClient {
  /** As the client calls itself: from outside, to be shown as text and cut. */
  readonly clientName: string;
  /** Who vouches for it: the operator's list, the host of its metadata document, or nobody. */
  readonly knownBy: "configuration" | "metadata_document" | "registration";
}

export type FindServerClient = (clientId: string) => Promise<ServerClient | undefined>;
