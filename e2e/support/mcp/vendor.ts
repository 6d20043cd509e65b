/**
 * The vendors of the MCP server's scenarios, each with the variables that point a server at it:
 * GitHub's simulator, which has PKCE, no OpenID and its own dialect, and the OpenID provider, whose
 * tokens rotate and which sends `iss`.
 */
import { defineVendor, direct } from "@oauth-broker/broker-client/direct";
import {
  type AccountId,
  driveConsent,
  type DriveConsentOptions,
  type OpenIdProviderOptions,
  startOpenIdProvider,
} from "@oauth-broker/simulators";
import { type GitHubClient, type GitHubSimulator, startGitHub } from "@oauth-broker/simulators/vendors";
import { type Environment, PLATFORM_CALLBACK } from "./process.ts";
import { plantSecret, random } from "../secrets.ts";
import { textMember } from "../text-member.ts";

export const OUR_CLIENT = "mcp-server-at-the-vendor";
/** Another app at the vendor, of another owner. */
export const OTHER_CLIENT = "another-owners-app";

/** @param prefix of the variables, if the server has several vendors */
export function gitHubVariables(
  { url, endpoints }: Pick<GitHubSimulator, "url" | "endpoints">,
  clientSecret: string,
  prefix = "VENDOR",
): Environment {
  return {
    [`${prefix}_AUTHORIZATION_URL`]: textMember(endpoints, "authorization_endpoint"),
    [`${prefix}_TOKEN_URL`]: textMember(endpoints, "token_endpoint"),
    [`${prefix}_USERINFO_URL`]: `${url}/user`,
    [`${prefix}_INTROSPECTION_URL`]: `${url}/applications/{client_id}/token`,
    [`${prefix}_REVOCATION_URL`]: `${url}/applications/{client_id}/token`,
    [`${prefix}_CLIENT_ID`]: OUR_CLIENT,
    [`${prefix}_CLIENT_SECRET`]: clientSecret,
  };
}

export type GitHubVendor = Awaited<ReturnType<typeof startGitHubVendor>>;
/** @param app settings of this app at GitHub, e.g. one whose tokens expire */
export async function startGitHubVendor(app: Partial<GitHubClient> = {}) {
  let offset = 0;
  const github = await startGitHub({ now: () => Math.floor(Date.now() / 1000) + offset });
  const clientSecret = random("client secret at the vendor");
  for (const clientId of [OUR_CLIENT, OTHER_CLIENT]) {
    github.addClient({ clientId, clientSecret, redirectUris: [PLATFORM_CALLBACK], ...app });
  }
  const { endpoints } = github;
  return {
    github,
    /** The vendor's clock, not ours: its tokens expire there while they look valid here. */
    advance: (seconds: number) => void (offset += seconds),
    env: { VENDOR: "github", ...gitHubVariables(github, clientSecret), EGRESS_ALLOW_LOOPBACK: "true" } as Environment,
    /**
     * The platform runs the vendor flow itself, as in pre-registered mode.
     * @returns the user's vendor token
     */
    obtainToken: async (options: { readonly account?: AccountId; readonly clientId?: string } = {}) => {
      const { account = "user", clientId = OUR_CLIENT } = options;
      const authorizationEndpoint = textMember(endpoints, "authorization_endpoint");
      const tokenEndpoint = textMember(endpoints, "token_endpoint");
      const app = direct({
        vendor: { ...defineVendor({ id: "github", name: "GitHub" }), authorizationEndpoint, tokenEndpoint },
        credentials: { clientId, clientSecret },
        redirectUri: PLATFORM_CALLBACK,
        egress: { allowLoopback: true },
      });
      const { url, session } = await app.start({ vendor: "github", scope: "read:user" });
      const { accessToken: token } = await app.finish(await consent(new URL(url), { account }), session);
      await app.close();
      plantSecret(`vendor token of ${account}`, token);
      return token;
    },
    close: async () => {
      plantAll("live vendor token", github.liveTokens());
      await github.close();
    },
  };
}

export type OpenIdVendor = Awaited<ReturnType<typeof startOpenIdVendor>>;
interface OpenIdVendorOptions extends Partial<OpenIdProviderOptions> {
  /** Of our client; the platform's by default. */
  readonly redirectUris?: readonly string[];
  /** Begins the names of the variables, if the server has several vendors. */
  readonly prefix?: string;
  readonly scopes?: string;
}

export async function startOpenIdVendor({
  redirectUris = [PLATFORM_CALLBACK],
  prefix,
  scopes = "openid profile offline_access",
  ...options
}: OpenIdVendorOptions = {}) {
  const clientSecret = random("client secret at the vendor");
  const client = { clientId: OUR_CLIENT, clientSecret, redirectUris, clientName: "MCP server" };
  const provider = await startOpenIdProvider({ clients: [client], ...options });
  const own = prefix ?? "VENDOR";
  return {
    provider,
    clientSecret,
    env: {
      ...(prefix === undefined && { VENDOR: "sandbox-op" }),
      [`${own}_ISSUER`]: provider.issuer,
      [`${own}_CLIENT_ID`]: OUR_CLIENT,
      [`${own}_CLIENT_SECRET`]: clientSecret,
      [`${own}_SCOPES`]: scopes,
      EGRESS_ALLOW_LOOPBACK: "true",
    } as Environment,
    close: () => provider.close(),
  };
}

/** The user at the vendor, up to the platform's callback, which is not requested. */
export async function consent(start: URL, options: Partial<DriveConsentOptions> = {}): Promise<URL> {
  return driveConsent(start, { stopAt: (url) => url.href.startsWith(PLATFORM_CALLBACK), ...options });
}

/** A user who agrees to everything, up to the redirect URI of the client, which the browser requests. */
export async function visitAsUser(authorizationUrl: string): Promise<void> {
  const redirectUri = new URL(authorizationUrl).searchParams.get("redirect_uri") ?? "";
  const back = await driveConsent(authorizationUrl, { stopAt: ({ href }) => href.startsWith(`${redirectUri}?`) });
  await fetch(back, { headers: { connection: "close" } });
}

export function plantAll(what: string, values: readonly string[]): void {
  for (const value of values) plantSecret(what, value);
}
