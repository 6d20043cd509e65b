/**
 * The OAuth half of a stock MCP client: what its author writes (an OAuthClientProvider), with a
 * user at the vendor.
 */
import { type Client, type OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { AccountId } from "@oauth-broker/simulators";
import { createClient, type Era } from "./client.ts";
import { PLATFORM_CALLBACK } from "./process.ts";
import { consent } from "./vendor.ts";
import { type Kept, oauthProvider } from "./oauth-provider.ts";
import { plantSecret } from "../secrets.ts";

export interface StockClient {
  readonly era: Era;
  readonly account: AccountId;
  readonly vendorIssuer?: string;
  /** Its redirect URI; default the platform's. */
  readonly callback?: string;
  /** Its pre-registered client, or the URL of its metadata document. */
  readonly known?: Pick<OAuthClientProvider, "clientMetadataUrl"> & { readonly registered?: Kept["registered"] };
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
) {
  const kept: Kept = registered === undefined ? {} : { registered };
  let sentTo: URL | undefined;
  const authProvider = oauthProvider(kept, callback, {
    ...known,
    name: "Stock client",
    redirectToAuthorization: (url) => void (sentTo = url),
    saveCodeVerifier: (codeVerifier) => {
      plantSecret("stock client's verifier", codeVerifier);
      kept.codeVerifier = codeVerifier;
    },
  });
  const open = () => new StreamableHTTPClientTransport(new URL(mcp), { authProvider, ...options });
  const connect = async (transport: StreamableHTTPClientTransport): Promise<Client> => {
    const client = create();
    await client.connect(transport);
    return client;
  };
  const refused = open();
  await connect(refused).catch(() => undefined);
  if (sentTo === undefined) throw new Error("the client was not sent to an authorization server");
  const back = await visit(sentTo);
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
