/** The broker's app at a vendor of the sandbox, and what such a vendor is to those who start it. */
import { randomBytes } from "node:crypto";

/** A vendor as a platform shows it: a line about it, and what its request takes. */
export interface VendorOffer {
  /** The vendor's id at the broker. */
  readonly id: string;
  readonly name: string;
  /** One line: what a newcomer sees there that is different elsewhere. */
  readonly about: string;
  /** Of each authorization request. */
  readonly request: { readonly scope: string; readonly prompt?: string; readonly resource?: string };
  /** What the user who connects has to say first; each has a value that works. */
  readonly placeholders?: readonly PlaceholderOffer[];
}

interface PlaceholderOffer {
  /** As the vendor's entry calls it. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Left out: any text. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}

export interface SandboxVendorOptions {
  /** The broker's: what its app is registered with at each vendor. */
  readonly redirectUri: string;
  /** Where a user starts, for the way back from a vendor's error pages. */
  readonly homeUrl: string;
  /** Shown on consent pages. */
  readonly appName?: string;
}

export interface SandboxVendor {
  /** What an operator writes under `vendors.<id>`: its endpoints, and the app's credentials. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly offer: VendorOffer;
  close(): Promise<void>;
}

/** The broker's app at a vendor. */
export type SandboxApp = ReturnType<typeof newApp>;

/** With its own secret, made again at each start. */
export function newApp({ redirectUri, appName = "OAuth broker (sandbox)" }: SandboxVendorOptions) {
  const clientSecret = randomBytes(32).toString("base64url");
  return { clientId: "broker", clientSecret, redirectUris: [redirectUri], name: appName };
}

/** As in an entry of `vendors`. */
export function credentialsOf({ clientId, clientSecret }: SandboxApp): object {
  return { credentials: { id: "sandbox", client_id: clientId, client_secret: clientSecret } };
}
