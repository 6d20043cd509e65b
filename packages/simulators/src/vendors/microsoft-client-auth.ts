/**
 * How an app proves itself to Microsoft: secret in the body or as Basic, or an assertion signed by
 * a certificate's key.
 *
 * Seen: all three (entra-docs v2-oauth2-auth-code-flow.md), that an assertion names its certificate
 * as `x5t#S256` (entra-docs certificate-credentials.md), 401 for AADSTS7000222.
 * Recalled: 7000215, 7000218, 700016 and the assertion's numbers; an assertion's audience is the
 * token endpoint it is sent to, or the tenant's issuer.
 */
import type { Context } from "hono";
import { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify } from "jose";
import { isSameText, isSecretOf, readCredentials } from "./base/clients.ts";
import type { VendorEnv } from "./base/simulator.ts";
import type { Members } from "./base/members.ts";
import type { AadstsCode } from "./microsoft-errors.ts";
import type { MicrosoftClient, MicrosoftParts } from "./microsoft-settings.ts";

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

export async function authenticateMicrosoftClient(
  { host }: MicrosoftParts,
  c: Context<VendorEnv>,
  form: Members,
  path: string,
): Promise<MicrosoftClient | AadstsCode> {
  const { clientId, clientSecret } = readCredentials(c, form);
  const client = host.clients.find(clientId);
  if (client === undefined) return "AADSTS700016";
  const assertion = form.get("client_assertion");
  if (assertion !== undefined && form.get("client_assertion_type") === ASSERTION_TYPE) {
    const audience = [`${host.url}/${path}/oauth2/v2.0/token`, `${host.url}/${path}/v2.0`];
    return verifyAssertion(client, assertion, audience, host.now());
  }
  if (clientSecret === undefined) return "AADSTS7000218";
  if (!isSecretOf(client, clientSecret)) return "AADSTS7000215";
  const isOld = client.clientSecret === undefined || !isSameText(client.clientSecret, clientSecret);
  const isExpired = client.secretExpiresAt !== undefined && client.secretExpiresAt <= host.now();
  return isExpired && !isOld ? "AADSTS7000222" : client;
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
