/** What the contract of a connect client runs on, and the steps of a user of the platform. */
import type { ConnectClient, Refreshed, Tokens } from "@oauth-broker/broker-client";
import { driveConsent, type DriveConsentOptions, type OpenIdProvider } from "@oauth-broker/simulators";
import { REDIRECT_URI, SCOPE } from "../broker/configuration.ts";
import { plantSecret } from "../secrets.ts";

/** Starts open. */
export type Gate = Readonly<Record<"open" | "shut", () => Promise<void>>>;

export interface ConnectHarness {
  readonly client: ConnectClient;
  /** The same client in another process of the backend. */
  again(): ConnectClient;
  /** The same with another client id. */
  other(): ConnectClient;
  readonly vendor: OpenIdProvider;
  /** The same vendor, with a gate in front of its token endpoint that starts open. */
  readonly gated: { readonly client: ConnectClient; readonly vendor: string; readonly gate: Gate };
  readonly now: { advance(seconds: number): void };
  /** Everything stops. */
  close(): Promise<void>;
}

export const REQUEST = { vendor: "op", scope: SCOPE };

export async function consent(url: string, options: Partial<DriveConsentOptions> = {}): Promise<URL> {
  return driveConsent(url, { stopAt: (at) => at.href.startsWith(REDIRECT_URI), ...options });
}

/** A user of the platform: a browser at the vendor, a session at the backend. */
export async function returnFromVendor(
  client: ConnectClient,
  { vendor, ...options }: Partial<DriveConsentOptions & typeof REQUEST> = {},
) {
  const { url, session } = await client.start({ ...REQUEST, ...(vendor === undefined ? {} : { vendor }) });
  plantSecret("verifier in the session", session.codeVerifier);
  return { session, callback: await consent(url, options) };
}

export async function connectWith(client: ConnectClient): Promise<Tokens> {
  const { session, callback } = await returnFromVendor(client);
  return plantTokens(await client.finish(callback, session));
}

export function plantTokens(tokens: Tokens): Tokens {
  for (const name of ["accessToken", "refreshToken", "vendorIdToken", "connection"] as const) {
    plantSecret(name, tokens[name]);
  }
  return tokens;
}

/** @throws Error unless it came about */
export function expectFresh(refreshed: Refreshed): Tokens {
  if (refreshed.outcome !== "ok") throw new Error(refreshed.outcome);
  return plantTokens(refreshed.tokens);
}

export function withParameters(url: URL, change: (parameters: URLSearchParams) => void): URL {
  const changed = new URL(url);
  change(changed.searchParams);
  return changed;
}
