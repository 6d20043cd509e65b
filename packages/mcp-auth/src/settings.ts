/**
 * The settings of a deployment, after config.ts has read and checked them. All other code takes the
 * part it needs.
 */
import type { Secret } from "@oauth-broker/oauth-core";
import type { TracingSettings } from "@oauth-broker/service/configuration";
import type { EventSettings } from "@oauth-broker/service/events";
import type { Vendor, VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { ListenOptions } from "@oauth-broker/service";
import type { SignIn } from "@oauth-broker/token-store";

export interface CommonSettings {
  readonly listen: ListenOptions;
  /** `METRICS_PORT`: a port on loopback for `/metrics`; 0 takes a free one. Absent: no metrics. */
  readonly metricsPort: number | undefined;
  /** Absent: no spans are sent. */
  readonly tracing: TracingSettings | undefined;
  /**
   * `DEPLOYMENT_URL`, byte for byte: no path, no trailing slash. Absent in pre-registered mode when
   * it is not set.
   */
  readonly deploymentUrl: string | undefined;
  /** `ALLOWED_ORIGINS`: origins of clients that are web pages, or `*`. Empty: none. */
  readonly allowedOrigins: readonly string[];
  readonly operator: OperatorSettings;
  readonly vendor: VendorSettings;
  readonly egress: {
    readonly allowLoopback: boolean;
    readonly allowCidrs: readonly string[];
    /** Every `VENDOR_…_URL` and issuer: at their hosts any https port may be asked. */
    readonly operatorUrls?: readonly string[];
    /** `EGRESS_PROXY`: the URL of a forward proxy, credentials included. */
    readonly proxy?: Secret;
  };
  readonly limits: {
    /**
     * Per address at `/authorize` and `/callback`, and refused ones at `/token` and `/revoke`; 0 =
     * off.
     */
    readonly requestsPerMinute: number;
    /** How many clients, per address, that are stored; 0 = off. */
    readonly registrationsPerMinute: number;
    /** On `/mcp`, per address, each token once; 0 = off. */
    readonly refusedTokensPerMinute: number;
    /** CIDRs of proxies whose forwarded address is trusted. */
    readonly trustedProxies: readonly string[];
  };
  /** Logged at start; nothing secret. */
  readonly warnings: readonly string[];
}

/** The languages of the pages. */
export type Language = "en" | "de";

/** `SERVER_…`: what the pages say of who runs this server. */
export interface OperatorSettings {
  /** Absent: the server's title. */
  readonly name?: string | undefined;
  /** https URLs. */
  readonly website?: string | undefined;
  readonly privacy?: string | undefined;
  readonly terms?: string | undefined;
  readonly icon?: Icon | undefined;
  readonly language: Language;
}

/** An image whose type is known by its first bytes. */
export interface Icon {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface VendorSettings {
  /** Its placeholders are filled; absent endpoints are discovered from its issuer. */
  readonly vendor: Vendor;
  /** The vendor client of this deployment. Always present in hosted mode. */
  readonly credentials: VendorCredentials | undefined;
  /** `VENDOR_SCOPES`: requested when a client names none, and the most it may request. */
  readonly scopes: readonly string[];
  /**
   * Hosts, and with a leading dot all hosts below a domain, that a user's vendor token may be sent
   * to.
   */
  readonly apiHosts: readonly string[];
}

/** A vendor at which this deployment is its own client. */
export type HostedVendorSettings = VendorSettings & { readonly credentials: VendorCredentials };

/** Several vendors, each linked once, behind one sign-in. */
export interface LinkingSettings {
  /**
   * `VENDORS`: by id as listed, in that order. The sign-in vendor is among them. An alias keeps its
   * name here; rows have the registry's id, `vendor.id`.
   */
  readonly vendors: ReadonlyMap<string, HostedVendorSettings>;
  /** `SIGN_IN`: the id, as listed, of the vendor that signs users in. */
  readonly signIn: string;
  /** `ELICITATION_WAIT_SECONDS`: how long a retried call waits for the user in the browser. */
  readonly elicitationWaitSeconds: number;
  /** `SESSION_MAX_DAYS`, in seconds: a session ends this long after its sign-in. */
  readonly sessionMaxSeconds: number;
  /** `END_LINKS_WITH_LAST_SESSION`: a user's last session ends their links too. */
  readonly endLinksWithLastSession: boolean;
  /** `ADOPT_SIGN_IN`: starts although the table's sessions are of another sign-in vendor. */
  readonly adoptSignIn: boolean;
}

/** The scope of a session, as its record has it. */
export type RecordedScope = {
  readonly scope: readonly string[];
  /** Begun with `VENDORS`: its scopes name their vendor. */
  readonly linking?: true;
};

/** What sessions are with one vendor, and with several. */
export interface SessionPolicy {
  /** A session ends this long after its sign-in, no matter how often it is refreshed. */
  readonly sessionMaxSeconds: number;
  /** What the record of a session that begins says of its scopes. */
  readonly sessionMark: Pick<RecordedScope, "linking">;
  /**
   * The scope of a stored session as sessions of this server have it, also if it began before
   * `VENDORS`: then `unprefixedOf` is the id of the vendor whose scopes the stored ones are.
   *
   * @returns undefined for a session whose scopes mean nothing here
   */
  readScope(stored: RecordedScope): { readonly scope: readonly string[]; readonly unprefixedOf?: string } | undefined;
  /**
   * The scope of a session that begins.
   *
   * @param granted by the sign-in vendor
   * @param consented as the consent page showed it
   */
  grantedScope(granted: readonly string[], consented: readonly string[]): readonly string[];
}

/**
 * What differs between a server of one vendor and one whose users link several; link-policy.ts has
 * the two values.
 */
export interface LinkPolicy extends SessionPolicy, Omit<LinkingSettings, "sessionMaxSeconds"> {
  /** `several`: there are pages of links, and calls that ask for one. */
  readonly kind: "one" | "several";
  /** What a link that the vendor has ended does to the session: 401 for its tokens, or nothing. */
  readonly deadLink: "ends_token" | "is_asked_for";
  /** @returns the vendor's own scopes as sessions name them */
  nameScopes(scopes: readonly string[], vendor: string): readonly string[];
  /** @returns what a session permits at a vendor, as that vendor's own scopes */
  scopesAt(sessionScope: readonly string[], vendor: string): readonly string[];
  /** @returns the session's scope for a request that names these */
  requestedScope(requested: readonly string[]): readonly string[];
  /** @returns the scope to request at the sign-in vendor for a session of this scope */
  signInScope(sessionScope: readonly string[]): readonly string[];
  /** @returns the session's scope if the flow has to keep it beside the vendor's */
  consentedScope(scope: readonly string[]): readonly string[] | undefined;
  /** @returns the sign-in in the keys of links: undefined if each is at the sign-in vendor itself */
  signInOfKeys(): SignIn | undefined;
}

export interface PreRegisteredSettings extends CommonSettings {
  readonly mode: "pre-registered";
}

export interface HostedSettings extends CommonSettings {
  readonly mode: "hosted";
  readonly deploymentUrl: string;
  /** Signs users in: the only vendor, or with `VENDORS` the one that `SIGN_IN` names. */
  readonly vendor: HostedVendorSettings;
  readonly links: LinkPolicy;
  readonly callback: PlatformCallback | ServerCallback;
  /** `ALLOW_VENDOR_WITHOUT_PKCE`: accepts a vendor with neither PKCE nor ID tokens. */
  readonly allowVendorWithoutPkce: boolean;
  /** `EVENTS_URL`, `EVENTS_SECRET`. Absent: no events. */
  readonly events?: EventSettings | undefined;
  /** `ADOPT_UNSEALED_SERVER_KEY`: an unsealed server key is replaced. */
  readonly adoptUnsealedServerKey: boolean;
}

/** The platform is the vendor's redirect URI and posts the vendor's code to `/token`. */
export interface PlatformCallback {
  readonly kind: "platform";
  /** `PLATFORM_OAUTH_CALLBACK_URL`: the only redirect URI, at the vendor and of our one client. */
  readonly redirectUri: string;
  /** `OAUTH_REGISTER`: whether `/register` exists. */
  readonly registers: boolean;
}

/**
 * This server is the vendor's redirect URI; ordinary MCP clients have their own redirect URIs.
 */
export interface ServerCallback {
  readonly kind: "server";
  /** `DEPLOYMENT_URL/callback`. */
  readonly redirectUri: string;
  readonly clients: readonly StaticClient[];
  /**
   * `OAUTH_DYNAMIC_REGISTRATION=open`; `hosts` limits redirect URIs to these, empty = any https
   * host. Absent = off.
   */
  readonly registration: { readonly hosts: readonly string[] } | undefined;
  /** `OAUTH_CLIENT_METADATA_HOSTS`: empty = off, `*` = any public host too. */
  readonly clientMetadataHosts: readonly string[];
}

/** Listed in `OAUTH_CLIENTS`. Public: PKCE, no secret. */
export interface StaticClient {
  readonly clientId: string;
  /** The name the client gives itself: untrusted, to be shown as truncated text. */
  readonly clientName: string;
  /**
   * Compared character for character; with the server's own callback the port on loopback is free.
   */
  readonly redirectUris: readonly string[];
}

export type Settings = PreRegisteredSettings | HostedSettings;
