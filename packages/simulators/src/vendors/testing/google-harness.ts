/** One app at the simulated Google, and its requests. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { startGoogleWorkspace, type GoogleSimulator } from "../google.ts";
import { type Flow, flowOf } from "./flow.ts";
import { type Answer, bearer, CALLBACK, postJson } from "./http.ts";

export const GMAIL = "https://www.googleapis.com/auth/gmail.readonly";
export const DRIVE = "https://www.googleapis.com/auth/drive.readonly";
export const GOOGLE_CLIENT = { client_id: "google-app", client_secret: "a secret of the app" };

export interface GoogleHarness extends Flow {
  readonly google: GoogleSimulator;
  readonly now: ReturnType<typeof fixedClock>;
  call(accessToken: unknown, product?: string, body?: object): Promise<Answer>;
}

export async function startGoogleHarness(): Promise<GoogleHarness> {
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
    call: (accessToken, product = "gmail", body = { id: 1, method: "tools/call" }) =>
      postJson(google.mcpServer(product), body, bearer(accessToken)),
  };
}
