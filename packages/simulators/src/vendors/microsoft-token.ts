/**
 * Microsoft's token endpoint, `POST /{tenant}/oauth2/v2.0/token`, and how an app proves itself
 * there: secret in the body or as Basic, or an assertion signed by a certificate's key. A revocation
 * endpoint does not exist.
 *
 * Seen: expires_in 3599, a refresh token with offline_access and an ID token with openid, that
 * refreshing gives a new refresh token and leaves the old token as it was, one resource per token,
 * the three ways of authentication (entra-docs v2-oauth2-auth-code-flow.md), that an assertion names
 * its certificate as `x5t#S256` (entra-docs certificate-credentials.md), 401 for AADSTS7000222.
 * Recalled: 90 days sliding, `ext_expires_in`, and the AADSTS number of most refusals; an
 * assertion's audience is the token endpoint it is sent to, or the tenant's issuer.
 */
import type { Context } from "hono";
import { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify } from "jose";
import { isSecretOf, readCredentials } from "./base/clients.ts";
import type { CodeMistake } from "./base/codes.ts";
import { json, type Members } from "./base/members.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { tokenError, type AadstsCode } from "./microsoft-errors.ts";
import { microsoftIdToken } from "./microsoft-identity.ts";
import { readScopes, resourceMistake, resourceScopes, resourcesOf } from "./microsoft-scopes.ts";
import {
  isSharedPath,
  tenantAt,
  type Microsoft,
  type MicrosoftClient,
  type MicrosoftGrant,
} from "./microsoft-settings.ts";

const ACCESS_SECONDS = 3599;
const REFRESH_SECONDS = 90 * 24 * 3600;
const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

const CODE_ERRORS: Readonly<Record<CodeMistake, AadstsCode>> = {
  unknown: "AADSTS9002313",
  spent: "AADSTS54005",
  expired: "AADSTS70008",
  redirect_uri: "AADSTS500112",
  verifier: "AADSTS501481",
};

type Answer = Response | Promise<Response>;

export function serveMicrosoftToken(microsoft: Microsoft): void {
  const { host, settings } = microsoft;
  const refuse = (code: string): Response => tokenError(code as AadstsCode, host, settings.tokenErrors);
  host.serve("/:tenant/oauth2/v2.0/token", "token", refuse, async (c, form) => {
    const path = c.req.param("tenant") ?? "";
    if (tenantAt(settings, path) === undefined) return refuse("AADSTS90002");
    if (form.encoding !== "form") return refuse("AADSTS900144");
    const client = await authenticate(c, form, host, path);
    if (typeof client === "string") return refuse(client);
    const isElsewhere = ({ tenantId }: MicrosoftGrant) => !isSharedPath(path) && path !== tenantId;
    const answer = (grant: MicrosoftGrant, nonce?: string): Answer => {
      const scopes = scopesFor(grant, form);
      return typeof scopes === "string" ? refuse(scopes) : issue(microsoft, grant, scopes, nonce);
    };
    if (form.get("grant_type") === "refresh_token") {
      const token = host.tokens.find(form.get("refresh_token"), "refresh", client.clientId);
      if (token === undefined) return refuse("AADSTS9002313");
      const grant = token.grant as MicrosoftGrant;
      if (isElsewhere(grant)) return refuse("AADSTS700005");
      if (token.state !== "live") return refuse(token.state === "expired" ? "AADSTS700082" : "AADSTS50173");
      const mistake = mistakeOf(grant, microsoft);
      return mistake === undefined ? answer(grant) : refuse(mistake);
    }
    if (form.get("grant_type") !== "authorization_code") return refuse("AADSTS70003");
    return microsoft.codes.redeem<Answer>(form, client, {
      refuse: (mistake, bound) =>
        refuse(bound !== undefined && isElsewhere(bound.grant) ? "AADSTS700005" : CODE_ERRORS[mistake]),
      check: ({ grant }) => {
        if (isElsewhere(grant)) return refuse("AADSTS700005");
        const scopes = scopesFor(grant, form);
        return typeof scopes === "string" ? refuse(scopes) : undefined;
      },
      answer: ({ grant, nonce }) => answer(grant, nonce),
    });
  });
}

/** What has changed at the tenant since the authorization. */
function mistakeOf(
  { tenantId, user, clientId, mfa }: MicrosoftGrant,
  { host, settings }: Microsoft,
): AadstsCode | undefined {
  const tenant = tenantAt(settings, tenantId);
  if (tenant?.adminConsent !== true && !host.allowed(user, clientId).has(tenantId)) return "AADSTS65001";
  return settings.mfaRequired && !mfa ? "AADSTS50076" : undefined;
}

/**
 * The scopes of this response: those requested here, else those of the authorization; of one
 * resource.
 */
function scopesFor(grant: MicrosoftGrant, form: Members): readonly string[] | AadstsCode {
  const asked = readScopes(form.get("scope") === undefined ? grant.scopes : form.list("scope"));
  if (asked === undefined) return "AADSTS70011";
  if (form.get("resource") !== undefined) return resourceMistake(asked);
  if (form.get("scope") !== undefined && resourcesOf(asked).length > 1) return "AADSTS70011";
  const allowed = resourceScopes(grant.scopes);
  if (resourceScopes(asked).some((scope) => !allowed.includes(scope))) return "AADSTS65001";
  const [first] = resourcesOf(asked);
  return resourceScopes(asked).filter((scope) => first !== undefined && scope.startsWith(first));
}

async function issue(
  microsoft: Microsoft,
  grant: MicrosoftGrant,
  scopes: readonly string[],
  nonce: string | undefined,
): Promise<Response> {
  const { tokens } = microsoft.host;
  const access = { prefix: "eyJ", lifetimeSeconds: ACCESS_SECONDS };
  const refreshing = { prefix: "1.A", lifetimeSeconds: REFRESH_SECONDS };
  return json({
    token_type: "Bearer",
    scope: scopes.join(" "),
    expires_in: ACCESS_SECONDS,
    ext_expires_in: ACCESS_SECONDS,
    access_token: tokens.issue("access", grant, access),
    ...(grant.scopes.includes("offline_access") ? { refresh_token: tokens.issue("refresh", grant, refreshing) } : {}),
    ...(grant.scopes.includes("openid") ? { id_token: await microsoftIdToken(microsoft, grant, nonce) } : {}),
  });
}

async function authenticate(
  c: Context<VendorEnv>,
  form: Members,
  host: Microsoft["host"],
  path: string,
): Promise<MicrosoftClient | AadstsCode> {
  const { clientId, clientSecret } = readCredentials(c, form);
  const client = host.clients.get(clientId ?? "");
  if (client === undefined) return "AADSTS700016";
  const assertion = form.get("client_assertion");
  if (assertion !== undefined && form.get("client_assertion_type") === ASSERTION_TYPE) {
    const audience = [`${host.url}/${path}/oauth2/v2.0/token`, `${host.url}/${path}/v2.0`];
    return verifyAssertion(client, assertion, audience, host.now());
  }
  if (clientSecret === undefined) return "AADSTS7000218";
  if (!isSecretOf(client, clientSecret)) return "AADSTS7000215";
  return (client.secretExpiresAt ?? Infinity) <= host.now() ? "AADSTS7000222" : client;
}

async function verifyAssertion(
  client: MicrosoftClient,
  assertion: string,
  audience: string[],
  now: number,
): Promise<MicrosoftClient | AadstsCode> {
  const { clientId, certificates = [] } = client;
  try {
    const { "x5t#S256": named } = decodeProtectedHeader(assertion);
    const keys = certificates.filter(({ "x5t#S256": thumbprint }) => thumbprint === undefined || thumbprint === named);
    await jwtVerify(assertion, createLocalJWKSet({ keys }), {
      algorithms: ["RS256", "PS256"],
      issuer: clientId,
      subject: clientId,
      audience,
      currentDate: new Date(now * 1000),
      requiredClaims: ["exp"],
    });
    return client;
  } catch (error) {
    if (error instanceof errors.JWTExpired) return "AADSTS700024";
    return error instanceof errors.JWTClaimValidationFailed && error.claim === "aud" ? "AADSTS700023" : "AADSTS700027";
  }
}
