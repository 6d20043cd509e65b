/**
 * Microsoft's token endpoint, `POST /{tenant}/oauth2/v2.0/token`. A revocation endpoint does not
 * exist.
 *
 * Seen: expires_in 3599, a refresh token with offline_access and an ID token with openid, that
 * refreshing gives a new refresh token and leaves the old token as it was, one resource per token
 * (entra-docs v2-oauth2-auth-code-flow.md).
 * Recalled: 90 days sliding, `ext_expires_in`, and the AADSTS number of most refusals.
 */
import { json, readMembers, type Members } from "./base/members.ts";
import { isVerifiedBy } from "./base/pkce.ts";
import { resourceMistake } from "./microsoft-authorize.ts";
import { authenticateMicrosoftClient } from "./microsoft-client-auth.ts";
import { tokenError, type AadstsCode } from "./microsoft-errors.ts";
import { microsoftIdToken } from "./microsoft-identity.ts";
import { readScopes, resourceScopes, resourcesOf } from "./microsoft-scopes.ts";
import {
  consentKey,
  grantOf,
  isSharedPath,
  tenantAt,
  type MicrosoftClient,
  type MicrosoftGrant,
  type MicrosoftParts,
} from "./microsoft-settings.ts";

const ACCESS_SECONDS = 3599;
const REFRESH_SECONDS = 90 * 24 * 3600;

interface Exchange {
  /** First segment of the path. */
  readonly path: string;
  readonly client: MicrosoftClient;
  readonly form: Members;
}

/** The result of a valid exchange. */
interface Granted {
  readonly grant: MicrosoftGrant;
  readonly nonce: string | undefined;
}

export function serveMicrosoftToken(parts: MicrosoftParts): void {
  const { host, settings } = parts;
  host.app.post("/:tenant/oauth2/v2.0/token", async (c) => {
    const refuse = (code: AadstsCode) => {
      const { status, body } = tokenError(code, { now: host.now(), url: host.url, tokenErrors: settings.tokenErrors });
      return json(body, status);
    };
    const refused = host.takeRefusal("token");
    if (refused !== undefined) return refuse(refused as AadstsCode);
    const path = c.req.param("tenant");
    const form = await readMembers(c);
    if (tenantAt(settings, path) === undefined) return refuse("AADSTS90002");
    if (form.encoding !== "form") return refuse("AADSTS900144");
    const client = await authenticateMicrosoftClient(parts, c, form, path);
    if (typeof client === "string") return refuse(client);
    const exchange = { path, client, form };
    const granted = form.get("grant_type") === "refresh_token" ? refresh(parts, exchange) : redeem(parts, exchange);
    if (typeof granted === "string") return refuse(granted);
    const scopes = scopesFor(granted.grant, form);
    return typeof scopes === "string" ? refuse(scopes) : json(await issue(parts, granted, scopes));
  });
}

function redeem({ codes }: MicrosoftParts, { path, client, form }: Exchange): Granted | AadstsCode {
  if (form.get("grant_type") !== "authorization_code") return "AADSTS70003";
  const code = form.get("code") ?? "";
  const held = codes.find(code);
  if (held?.bound.grant.clientId !== client.clientId) return "AADSTS9002313";
  if (held.state !== "live") return held.state === "spent" ? "AADSTS54005" : "AADSTS70008";
  const { grant, redirectUri, challenge, nonce } = held.bound;
  if (!isSharedPath(path) && path !== grant.tenantId) return "AADSTS700005";
  if (form.get("redirect_uri") !== redirectUri) return "AADSTS500112";
  if (!isVerifiedBy(challenge, form.get("code_verifier"))) return "AADSTS501481";
  const mistake = scopesFor(grant, form);
  if (typeof mistake === "string") return mistake;
  codes.spend(code);
  return { grant, nonce };
}

function refresh(parts: MicrosoftParts, { path, client, form }: Exchange): Granted | AadstsCode {
  const { host, settings, consents } = parts;
  const token = host.tokens.find(form.get("refresh_token"));
  if (token?.kind !== "refresh" || token.grant.clientId !== client.clientId) return "AADSTS9002313";
  const grant = grantOf(token);
  if (!isSharedPath(path) && path !== grant.tenantId) return "AADSTS700005";
  if (token.state !== "live") return token.state === "expired" ? "AADSTS700082" : "AADSTS50173";
  const tenant = tenantAt(settings, grant.tenantId);
  if (tenant?.adminConsent !== true && !consents.has(consentKey(grant.tenantId, grant.user, client.clientId)))
    return "AADSTS65001";
  if (tenant?.hasTools !== true) return "AADSTS500011";
  return settings.mfaRequired && !grant.mfa ? "AADSTS50076" : { grant, nonce: undefined };
}

/**
 * The scopes of this response: those requested here, else those of the authorization; of one
 * resource.
 */
function scopesFor(grant: MicrosoftGrant, form: Members): readonly string[] | AadstsCode {
  const asked = readScopes(form.get("scope") ?? grant.scopes.join(" "));
  if (asked === undefined) return "AADSTS70011";
  if (form.get("resource") !== undefined) return resourceMistake(asked);
  if (form.get("scope") !== undefined && resourcesOf(asked).length > 1) return "AADSTS70011";
  const allowed = resourceScopes(grant.scopes);
  if (resourceScopes(asked).some((scope) => !allowed.includes(scope))) return "AADSTS65001";
  const [first] = resourcesOf(asked);
  return resourceScopes(asked).filter((scope) => first !== undefined && scope.startsWith(first));
}

async function issue(parts: MicrosoftParts, { grant, nonce }: Granted, scopes: readonly string[]): Promise<object> {
  const { tokens } = parts.host;
  const access = { prefix: "eyJ", lifetimeSeconds: ACCESS_SECONDS };
  const refreshing = { prefix: "1.A", lifetimeSeconds: REFRESH_SECONDS };
  return {
    token_type: "Bearer",
    scope: scopes.join(" "),
    expires_in: ACCESS_SECONDS,
    ext_expires_in: ACCESS_SECONDS,
    access_token: tokens.issue("access", grant, access),
    ...(grant.scopes.includes("offline_access") ? { refresh_token: tokens.issue("refresh", grant, refreshing) } : {}),
    ...(grant.scopes.includes("openid") ? { id_token: await microsoftIdToken(parts, grant, nonce) } : {}),
  };
}
