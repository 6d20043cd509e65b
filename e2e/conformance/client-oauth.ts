/**
 * The OAuth half of the conformance client where the platform has no rule of its own: the SDK's flow, what it keeps held per
 * authorization server, and a user who says yes to everything. Caller: client.ts.
 */
import { randomBytes } from "node:crypto";
import type { OAuthClientProvider } from "@modelcontextprotocol/client";

type Registered = Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;
type Tokens = Awaited<ReturnType<OAuthClientProvider["tokens"]>>;

export interface UserAtSdk {
  readonly provider: OAuthClientProvider;
  /** The browser goes where it was last sent. @returns the parameters it comes back with */
  consent(): Promise<URLSearchParams>;
}

/** Never fetched: the suite looks at the client_id alone. */
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";
export const REDIRECT_URI = "http://localhost:3000/oauth/callback";

/** @param known the client, where it was registered beforehand */
export function userAtSdk(known?: NonNullable<Registered>): UserAtSdk {
  const clients = new Map<string, NonNullable<Registered>>();
  let tokens: Tokens;
  let codeVerifier = "";
  let state = "";
  let sentTo: URL | undefined;
  return {
    provider: {
      redirectUrl: REDIRECT_URI,
      clientMetadataUrl: CLIENT_METADATA_URL,
      clientMetadata: {
        client_name: "Platform",
        redirect_uris: [REDIRECT_URI],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        application_type: "web",
      },
      state: () => (state = randomBytes(16).toString("base64url")),
      clientInformation: (at) => known ?? clients.get(at?.issuer ?? ""),
      saveClientInformation: (client, at) => void clients.set(at?.issuer ?? "", client),
      tokens: () => tokens,
      saveTokens: (saved) => void (tokens = saved),
      saveCodeVerifier: (saved) => void (codeVerifier = saved),
      codeVerifier: () => codeVerifier,
      redirectToAuthorization: (url) => void (sentTo = url),
    },
    consent: async () => {
      if (sentTo === undefined) throw new Error("the client was not sent to an authorization server");
      const back = await consent(sentTo.href);
      if (back.searchParams.get("state") !== state) throw new Error("the answer to something else");
      return back.searchParams;
    },
  };
}

/** @returns where the authorization server sends the browser: the suite's asks nobody */
export async function consent(authorizationUrl: string): Promise<URL> {
  const answer = await fetch(authorizationUrl, { redirect: "manual" });
  const location = answer.headers.get("location");
  if (location === null) throw new Error(`the authorization endpoint answers ${answer.status}`);
  return new URL(location);
}
