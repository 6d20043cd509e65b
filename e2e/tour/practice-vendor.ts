/**
 * The vendor of the tour's hosted server: a practice copy in the tour's own process, with one app,
 * whose redirect URI is that of its connector.
 */
import { startSandboxVendor } from "@oauth-broker/simulators";
import { textMember } from "../support/text-member.ts";

export interface PracticeVendor {
  /** Variables of a server that works with it. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function startPracticeVendor(redirectUri: string, homeUrl: string): Promise<PracticeVendor> {
  const { entry, close } = await startSandboxVendor("github", { redirectUri, homeUrl, appName: "Hosted server" });
  const app = entry["credentials"] as Readonly<Record<string, unknown>>;
  const tokenUrl = textMember(entry, "token_endpoint");
  const { origin } = new URL(tokenUrl);
  return {
    environment: {
      VENDOR_AUTHORIZATION_URL: textMember(entry, "authorization_endpoint"),
      VENDOR_TOKEN_URL: tokenUrl,
      VENDOR_USERINFO_URL: `${origin}/user`,
      VENDOR_INTROSPECTION_URL: `${origin}/applications/{client_id}/token`,
      VENDOR_REVOCATION_URL: `${origin}/applications/{client_id}/token`,
      VENDOR_CLIENT_ID: textMember(app, "client_id"),
      VENDOR_CLIENT_SECRET: textMember(app, "client_secret"),
      EGRESS_ALLOW_LOOPBACK: "true",
    },
    close,
  };
}
