/**
 * Tests registration at a hosted server, and its authorization endpoint up to the redirect to the
 * vendor. No user signs in, nothing is stored.
 */
import { errorText, type Fetch } from "@oauth-broker/oauth-core";
import { createCodeVerifier, deriveCodeChallenge, randomToken } from "@oauth-broker/oauth-core/protocol";
import * as oauth from "oauth4webapi";
import { registrationOf } from "../../oauth/hosted-server/client-registration.ts";
import { ask, fault, isBlocked, type Subject } from "./check.ts";

/**
 * Uses the client an administrator entered, otherwise registers one at the server.
 * @throws Fault client_missing when there is neither
 */
export async function requireClient(
  { settings, callbackUrl, deploymentUrl }: Subject,
  metadata: oauth.AuthorizationServer,
  fetch: Fetch,
): Promise<{ said: string; value: oauth.Client }> {
  const { clientId } = settings;
  if (clientId !== undefined)
    return { said: "A client is entered on the Settings tab.", value: { client_id: clientId } };
  if (metadata.registration_endpoint === undefined) {
    throw fault(
      "The server registers no clients, and no OAuth client is configured.",
      "Enter a client that the server knows on the connector's Settings tab, and deploy again.",
      "client_missing",
    );
  }
  const answer = await ask(fetch, metadata.registration_endpoint, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(registrationOf(callbackUrl, "none")),
  });
  const { status } = answer;
  try {
    const client = await oauth.processDynamicClientRegistrationResponse(answer);
    return { said: "The server registers the platform.", value: client };
  } catch {
    const remedy = isBlocked(status)
      ? "The auth middleware must protect POST /mcp only."
      : `The redirect URI is PLATFORM_OAUTH_CALLBACK_URL; ${deploymentUrl}/register must answer 201 with a client_id.`;
    throw fault(`Registration answers ${status}, without a client.`, remedy);
  }
}

export async function requireAuthorization(
  { callbackUrl, deploymentUrl }: Subject,
  metadata: oauth.AuthorizationServer,
  { client_id }: oauth.Client,
  fetch: Fetch,
): Promise<{ said: string }> {
  const url = new URL(metadata.authorization_endpoint ?? "");
  const parameters = {
    response_type: "code",
    client_id,
    redirect_uri: callbackUrl,
    state: randomToken(16),
    code_challenge: deriveCodeChallenge(createCodeVerifier()),
    code_challenge_method: "S256",
    resource: `${deploymentUrl}/mcp`,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const answer = await ask(fetch, url.href, { headers: { accept: "text/html" } });
  // A server with its own callback asks the user for consent before the redirect to the vendor.
  const isPage = answer.status === 200 && (answer.headers.get("content-type") ?? "").startsWith("text/html");
  if (isPage) return { said: "The authorization endpoint asks the user for consent." };
  const location = URL.parse(answer.headers.get("location") ?? "");
  const remedy = "Read the server's output with deploy logs. Is its vendor client set, and is the vendor reachable?";
  if (answer.status < 300 || answer.status > 399 || location === null) {
    throw fault(`The authorization endpoint answers ${answer.status} and does not redirect to the vendor.`, remedy);
  }
  const error = location.searchParams.get("error");
  if (error !== null) throw fault(`The authorization endpoint answers with an error: ${errorText(error)}.`, remedy);
  if (location.origin === deploymentUrl || location.href.startsWith(callbackUrl)) {
    throw fault("The authorization endpoint redirects back to the platform, not to the vendor.", remedy);
  }
  return { said: `The authorization endpoint redirects to the vendor (${location.host}).` };
}
