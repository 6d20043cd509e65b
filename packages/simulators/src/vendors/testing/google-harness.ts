/** One app at the simulated Google, and its requests. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { startGoogleWorkspace } from "../google.ts";
import { flowOf } from "./flow.ts";
import { bearer, CALLBACK, postJson } from "./http.ts";

export const GMAIL = "https://www.googleapis.com/auth/gmail.readonly";
export const DRIVE = "https://www.googleapis.com/auth/drive.readonly";
export const GOOGLE_CLIENT = { client_id: "google-app", client_secret: "a secret of the app" };

export type GoogleHarness = Awaited<ReturnType<typeof startGoogleHarness>>;

export async function startGoogleHarness() {
  const now = fixedClock(1_700_000_000);
  const google = await startGoogleWorkspace({ now });
  const { client_id: clientId, client_secret: clientSecret } = GOOGLE_CLIENT;
  google.addClient({ clientId, clientSecret, redirectUris: [CALLBACK] });
  const scope = `openid email ${GMAIL} ${DRIVE}`;
  const asked = { scope, nonce: "n1", access_type: "offline", prompt: "consent" };
  return {
    ...flowOf(google.endpoints, { asked, credentials: GOOGLE_CLIENT }),
    google,
    now,
    call: (accessToken: unknown, product = "gmail", body: object = { id: 1, method: "tools/call" }) =>
      postJson(google.mcpServer(product), body, bearer(accessToken)),
  };
}
