/**
 * Several vendors, two of them there: OpenID providers at two origins. Users sign in at `home` and
 * link `chat`; a visitor is a browser at our pages and at the vendors'.
 */
import { defined, type Clock, type RecordStore } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
import type { OpenIdProvider, OpenIdProviderOptions } from "@oauth-broker/simulators";
import type { TokenRows } from "@oauth-broker/token-store";
import type { CallerLinks, Ticket } from "../../mode.ts";
import type { PagesDeps } from "../../hosted/pages/deps.ts";
import { sweepPendingTokens } from "../../hosted/pages/store-link.ts";
import { atVendor, linkKey } from "../../hosted/links/link.ts";
import type { HostedSettings, HostedVendorSettings, LinkingSettings } from "../../settings.ts";
import { type Closing, closing } from "../closing.ts";
import { CREDENTIALS, SCOPES, SERVER, startOpenIdVendor } from "../hosted-fixture.ts";
import { linkingSettings } from "../hosted-settings.ts";
import { DESK, openServerFixture, type ServerFixture } from "../server-fixture.ts";
import { severalVendors } from "../../hosted/link-policy/link-policy.ts";
import { type LinkingVisitor, openVisitor } from "./visitor.ts";

export { asksToSignIn, type LinkingVisitor, type Shown } from "./visitor.ts";

export type VendorName = "home" | "chat";

export interface LinkingFixture extends ServerFixture {
  readonly home: OpenIdProvider;
  readonly chat: OpenIdProvider;
  readonly deps: PagesDeps;
  /** A new browser. */
  visitor(): LinkingVisitor;
  /** A new browser in which the user is signed in at our pages, and at no vendor. */
  signedIn(): Promise<LinkingVisitor>;
  /** A session of a client, and the links it sees. */
  call(user?: string, scope?: readonly string[], clientId?: string): Promise<Call>;
  /** The access token that is stored. */
  linked(vendor: VendorName, user?: string): Promise<string | undefined>;
  /** Revocations at a vendor so far. */
  revocations(vendor: VendorName): number;
  sweep(): Promise<void>;
  /** Another process, or another configuration, over the same table. */
  again(changes?: Partial<LinkingOptions>): LinkingFixture;
}

export interface Call {
  readonly links: CallerLinks;
  readonly access: string;
  readonly sessionId: string;
  ask(vendor?: string, scopes?: readonly string[]): Promise<Ticket>;
}

export interface LinkingOptions {
  readonly chat: Partial<Vendor>;
  readonly home: Partial<Vendor>;
  readonly signIn: VendorName;
  readonly settings: Partial<HostedSettings>;
  readonly linking: Partial<LinkingSettings>;
  readonly provider: Partial<OpenIdProviderOptions>;
  readonly records: (now: Clock) => RecordStore;
  readonly rows: TokenRows;
  readonly vendorClient: (real: VendorClient) => VendorClient;
}

export const SESSION_SCOPE: readonly string[] = ["home", "chat"].flatMap((id) =>
  SCOPES.map((scope) => `${id}:${scope}`),
);

export async function openLinkingFixture(options: Partial<LinkingOptions> = {}): Promise<LinkingFixture> {
  const signIn = options.signIn ?? "home";
  const start = async (name: VendorName, host: "127.0.0.1" | "localhost"): Promise<OpenIdProvider> => {
    // Either may be the sign-in vendor.
    const redirectUris = [`${SERVER}/callback`, `${SERVER}/vendors/${name}/callback`];
    return (await startOpenIdVendor(redirectUris, { provider: { host, ...options.provider } })).provider;
  };
  const [home, chat] = [await start("home", "127.0.0.1"), await start("chat", "localhost")];
  return fixtureOver({ home, chat }, { ...options, signIn }, async () => {
    await Promise.all([home.close(), chat.close()]);
  });
}

function fixtureOver(
  { home, chat }: Readonly<Record<VendorName, OpenIdProvider>>,
  options: Partial<LinkingOptions>,
  closeVendors: () => Promise<void>,
): LinkingFixture {
  const { signIn = "home", records, rows, vendorClient } = options;
  const at = (id: VendorName, name: string, { issuer }: OpenIdProvider): HostedVendorSettings => ({
    vendor: defineVendor({ id, name, issuer, ...options[id] }),
    credentials: CREDENTIALS,
    scopes: SCOPES,
    apiHosts: [],
  });
  const vendors = new Map([
    ["home", at("home", "Home Vendor", home)],
    ["chat", at("chat", "Chat Vendor", chat)],
  ]);
  const vendor = vendors.get(signIn);
  if (vendor === undefined) throw new Error("there is no such vendor");
  const links = severalVendors(linkingSettings({ vendors, signIn, ...options.linking }));
  const fixture = openServerFixture({
    vendor: vendor.vendor,
    scopes: SCOPES,
    ...defined({ records, rows, vendorClient }),
    settings: { vendor, links, ...options.settings },
  });
  const clients = new Map(fixture.callback.clients.map((client) => [client.clientId, client]));
  if (fixture.linking === undefined) throw new Error("there is no linking");
  const findClient: PagesDeps["findClient"] = async (clientId) => {
    const client = clients.get(clientId);
    return client === undefined ? undefined : { ...client, knownBy: "configuration" };
  };
  const deps: PagesDeps = { ...fixture.linking, findClient };
  const providers = { home, chat };
  const visitor = () => openVisitor(SERVER, (url, init) => fixture.request(url.slice(SERVER.length), init));
  const opened: Omit<LinkingFixture, keyof Closing> = {
    ...fixture,
    home,
    chat,
    deps,
    visitor,
    signedIn: async () => {
      const browser = visitor();
      browser.jar.store(new URL(SERVER), [await deps.signIns.start("user", "Sample user")]);
      return browser;
    },
    call: async (user = "user", scope = SESSION_SCOPE, clientId = DESK.clientId) => {
      const { session, tokens } = await fixture.sessions.start({ user, clientId, scope });
      const links = (await fixture.authenticate(tokens.accessToken))?.links;
      if (links === undefined) throw new Error("the caller has no links");
      return {
        links,
        access: tokens.accessToken,
        sessionId: session.id,
        ask: (name = "chat", scopes = ["openid", "api:read"]) => links.ask({ vendor: name, scopes }),
      };
    },
    linked: async (name, user = "user") =>
      (await fixture.tokens.get(linkKey(user, atVendor(name, fixture))))?.tokens.accessToken.reveal(),
    revocations: (name) => providers[name].requests().filter(({ path }) => path === "/token/revocation").length,
    sweep: () => sweepPendingTokens(deps),
    again: (changes = {}) =>
      fixtureOver(
        providers,
        { ...options, records: () => fixture.table, rows: { ...fixture.rows, close: async () => {} }, ...changes },
        async () => {},
      ),
  };
  return closing(opened, async () => {
    await fixture.close();
    await closeVendors();
  });
}
