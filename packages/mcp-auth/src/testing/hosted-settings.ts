/** The settings of a server in hosted mode, as if its variables said nothing but what a test needs. */
import { oneVendor } from "../hosted/link-policy/link-policy.ts";
import type { HostedSettings, LinkingSettings } from "../settings.ts";

export const SERVER = "https://server.example";
export const CALLBACK = "https://platform.example/oauth/callback";
export const NO_LIMITS = {
  requestsPerMinute: 0,
  registrationsPerMinute: 0,
  refusedTokensPerMinute: 0,
  trustedProxies: [],
} as const;

/** With the platform's callback and one vendor, unless changed. */
export function hostedSettings(changes: Partial<HostedSettings> & Pick<HostedSettings, "vendor">): HostedSettings {
  return {
    mode: "hosted",
    listen: { host: "127.0.0.1", port: 0 },
    metricsPort: undefined,
    tracing: undefined,
    deploymentUrl: SERVER,
    allowedOrigins: [],
    callback: { kind: "platform", redirectUri: CALLBACK, registers: true },
    allowVendorWithoutPkce: false,
    adoptUnsealedServerKey: false,
    links: oneVendor(changes.vendor),
    egress: { allowLoopback: true, allowCidrs: [] },
    limits: NO_LIMITS,
    operator: { language: "en" },
    warnings: [],
    ...changes,
  };
}

/** Of several vendors: no call waits for a link, and links outlive sessions, unless changed. */
export function linkingSettings(
  changes: Partial<LinkingSettings> & Pick<LinkingSettings, "vendors" | "signIn">,
): LinkingSettings {
  return {
    elicitationWaitSeconds: 0,
    sessionMaxSeconds: 30 * 86_400,
    endLinksWithLastSession: false,
    adoptSignIn: false,
    ...changes,
  };
}
