/**
 * The OAuth half of a stock MCP client: what its author writes (an OAuthClientProvider), with a
 * user at the vendor.
 */
import { type Client, type OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { AccountId } from "@oauth-broker/simulators";
import { createClient, type Era } from "./client.ts";
import type { PlatformTokens } from "./platform.ts";
import { PLATFORM_CALLBACK } from "./process.ts";
import { consent } from "./vendor.ts";
import { plantSecret } from "../secrets.ts";

type Tokens = Parameters<OAuthClientProvider["saveTokens"]>[0];
type Discovered = Parameters<NonNullable<OAuthClientProvider["saveDiscoveryState"]>>[0];
type Registered = Parameters<NonNullable<OAuthClientProvider["saveClientInformation"]>>[0];

export interface StockClient {
  readonly era: Era;
  readonly account: AccountId;
  readonly vendorIssuer?: string;
  /** Its redirect URI; default the platform's. */
  readonly callback?: string;
  /** Its pre-registered client, or the URL of its metadata document. */
  readonly known?: Pick<OAuthClientProvider, "clientMetadataUrl"> & { readonly registered?: Registered };
  readonly fetch?: typeof fetch;
  /** Its user's browser, up to the redirect URI; by default a fresh one. */
  readonly visit?: (url: URL) => Promise<URL>;
  /** By default one that shows its user nothing. */
  readonly create?: () => Client;
}

/**
 * Connects, gets 401, discovers, registers, sends the user to the vendor, redeems and connects
 * again: all of it the SDK's.
 *
 * @param options.vendorIssuer as a platform sets it for its connector: exactly this `iss` is
 *   accepted as the vendor's
 * @throws the SDK's IssuerMismatchError for another
 */
export async function authorizeClient(
  mcp: string,
  {
    era,
    account,
    vendorIssuer,
    callback = PLATFORM_CALLBACK,
    known: { registered, ...known } = {},
    visit = (url) => consent(url, { account, stopAt: ({ href }) => href.startsWith(callback) }),
    create = () => createClient(era),
    ...options
  }: StockClient,
): Promise<{
  readonly client: Client;
  readonly tokens: Pick<PlatformTokens, "accessToken" | "refreshToken">;
  readonly clientId: string | undefined;
}> {
  const kept: {
    discovered?: Discovered;
    tokens?: Tokens;
    registered?: Registered;
    codeVerifier?: string;
    sentTo?: URL;
  } = registered === undefined ? {} : { registered };
  const authProvider: OAuthClientProvider = {
    ...known,
    redirectUrl: callback,
    clientMetadata: { client_name: "Stock client", redirect_uris: [callback] },
    discoveryState: () => kept.discovered,
    saveDiscoveryState: (discovered) => void (kept.discovered = discovered),
    clientInformation: () => kept.registered,
    saveClientInformation: (registered) => void (kept.registered = registered),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => void (kept.sentTo = url),
    saveCodeVerifier: (codeVerifier) => {
      plantSecret("stock client's verifier", codeVerifier);
      kept.codeVerifier = codeVerifier;
    },
    codeVerifier: () => kept.codeVerifier ?? "",
    state: () => "state-of-the-stock-client",
  };
  const open = () => new StreamableHTTPClientTransport(new URL(mcp), { authProvider, ...options });
  const connect = async (transport: StreamableHTTPClientTransport): Promise<Client> => {
    const client = create();
    await client.connect(transport);
    return client;
  };
  const refused = open();
  await connect(refused).catch(() => undefined);
  if (kept.sentTo === undefined) throw new Error("the client was not sent to an authorization server");
  const back = await visit(kept.sentTo);
  plantSecret("code", back.searchParams.get("code"));
  if (vendorIssuer !== undefined && back.searchParams.get("iss") === vendorIssuer) back.searchParams.delete("iss");
  await refused.finishAuth(back.searchParams);
  const { access_token: accessToken = "", refresh_token: refreshToken = "" } = kept.tokens ?? {};
  plantSecret("stock client's access token", accessToken);
  plantSecret("stock client's refresh token", refreshToken);
  return {
    client: await connect(open()),
    tokens: { accessToken, refreshToken },
    clientId: kept.registered?.client_id,
  };
}
