/**
 * One visit of an administrator allows the app for everyone: `GET /{tenant}/adminconsent`, and
 * `/{tenant}/v2.0/adminconsent`.
 *
 * Seen: of the v2.0 form the callback with `admin_consent=True`, `tenant`, `scope`, `state`, and of
 * a refusal `consent_required` with AADSTS65004 and `admin_consent=True` (entra-docs
 * v2-admin-consent.md).
 * Recalled: of the older form `tenant`, `admin_consent=True`, `state`, and a refusal as
 * `access_denied`; what happens to a user who is not an administrator.
 */
import type { Context } from "hono";
import { callbackUrl } from "./base/host.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { readMicrosoftRequest } from "./microsoft-authorize.ts";
import { callbackError, textOf, type AadstsCode } from "./microsoft-errors.ts";
import { AGENT_365_TOOLS, microsoftScopeText } from "./microsoft-scopes.ts";
import type { MicrosoftParts } from "./microsoft-settings.ts";

export function serveMicrosoftAdminConsent(parts: MicrosoftParts): void {
  parts.host.app.get("/:tenant/adminconsent", (c) => ask(parts, c, c.req.param("tenant"), "v1"));
  parts.host.app.get("/:tenant/v2.0/adminconsent", (c) => ask(parts, c, c.req.param("tenant"), "v2.0"));
}

async function ask(
  parts: MicrosoftParts,
  c: Context<VendorEnv>,
  path: string,
  version: "v1" | "v2.0",
): Promise<Response> {
  const { host } = parts;
  const request = await readMicrosoftRequest(parts, c, path);
  if (request instanceof Response) return request;
  const { tenant, client, redirectUri, query } = request;
  const scope = query.get("scope");
  if (version === "v2.0" && scope === undefined) return host.consent.refuse(c, textOf("AADSTS900144"), "AADSTS900144");
  const back = (answer: Readonly<Record<string, string | undefined>>) => ({
    redirect: callbackUrl(redirectUri, { admin_consent: "True", ...answer, state: query.get("state") }),
  });
  const fail = (code: AadstsCode) => {
    const parameters = callbackError(code, { now: host.now(), url: host.url });
    return back(version === "v2.0" ? { ...parameters, error: "consent_required" } : parameters);
  };
  const asked = scope?.split(" ") ?? [`${AGENT_365_TOOLS}/.default`];
  return host.consent.ask(c, {
    app: `${client.name ?? client.clientId} for everyone at ${tenant.name}`,
    permissions: asked.map((one) => ({ scope: one, text: microsoftScopeText(one) })),
    isAllowedBefore: (user) => user.id !== "operator",
    onAllow(user) {
      if (user.id !== "operator") return fail("AADSTS90094");
      tenant.adminConsent = true;
      return back({ tenant: tenant.id, ...(version === "v2.0" ? { scope } : {}) });
    },
    onCancel: () => fail("AADSTS65004"),
  });
}
