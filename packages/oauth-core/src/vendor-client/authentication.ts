/**
 * How we authenticate at a vendor: a public client, a secret in the body or in the Basic header, a
 * secret signed for each request, or the key of a certificate. The vendor's entry says which.
 */
import { SignJWT } from "jose";
import { type ClientAuth, ClientSecretPost, modifyAssertion, None, PrivateKeyJwt } from "oauth4webapi";
import type { Clock } from "../ports.ts";
import type { SignedClientSecret } from "../registry/dialect.ts";
import type {
  ClientCertificate,
  ClientSigningKey,
  ResolvedVendor,
  TokenEndpointAuthMethod,
  VendorCredentials,
} from "../registry/vendor.ts";

export type Authenticate = (
  vendor: Pick<ResolvedVendor, "tokenEndpointAuthMethod" | "clientSecret" | "clientAssertion" | "secretIsUserName">,
) => ClientAuth;

export function clientAuthentication(
  { clientId, clientSecret, signingKey, certificate }: VendorCredentials,
  now: Clock,
): Authenticate {
  const methods = methodsWith(clientId, clientSecret?.reveal());
  const assertion = certificate === undefined ? undefined : certificateAssertion(certificate);
  return ({ tokenEndpointAuthMethod: method, clientSecret: form, clientAssertion, secretIsUserName }) => {
    if (assertion !== undefined && clientAssertion !== undefined) return assertion;
    if (secretIsUserName === true && clientSecret !== undefined) return basicAuthentication(clientSecret.reveal(), "");
    if (signingKey === undefined || form === undefined) return methods[method];
    return async (...request) => {
      const secret = await signClientSecret(clientId, signingKey, form, now);
      await methodsWith(clientId, secret)[method](...request);
    };
  };
}

/** Without a secret, a public client. */
function methodsWith(clientId: string, secret: string | undefined): Record<TokenEndpointAuthMethod, ClientAuth> {
  return {
    none: None(),
    client_secret_post: secret === undefined ? None() : ClientSecretPost(secret),
    client_secret_basic: secret === undefined ? None() : basicAuthentication(clientId, secret),
  };
}

/**
 * Id and secret are form-encoded, then joined. oauth4webapi's own version also escapes `-`, `_`,
 * `.` and `*`, which form encoding does not; a vendor that skips the decoding would then refuse
 * nearly every client id.
 */
//= rfc6749#2.3.1
//= bar#VR-4
function basicAuthentication(clientId: string, clientSecret: string): ClientAuth {
  const value = basicCredentials(clientId, clientSecret);
  return (_server, _client, _body, headers) => {
    headers.set("authorization", value);
  };
}

export function basicCredentials(clientId: string, clientSecret: string): string {
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(clientSecret)}`).toString("base64")}`;
}

function formEncode(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/**
 * A client secret that is a JWT signed with a key of the client: short-lived, new for each request,
 * and never kept.
 *
 * @returns a compact JWS: `iss` the team, `sub` the client, `aud` the vendor's, `kid` the key's id
 */
//= rfc7519#4.1
async function signClientSecret(
  clientId: string,
  { teamId, keyId, privateKey }: ClientSigningKey,
  { alg, audience, lifetimeSeconds }: SignedClientSecret,
  now: Clock,
): Promise<string> {
  const at = now();
  return new SignJWT()
    .setProtectedHeader({ alg, kid: keyId })
    .setIssuer(teamId)
    .setSubject(clientId)
    .setAudience(audience)
    .setIssuedAt(at)
    .setExpirationTime(at + lifetimeSeconds)
    .sign(privateKey);
}

/**
 * The key of a certificate instead of a secret: private_key_jwt by oauth4webapi, with what such
 * vendors require in addition. The header names the certificate; the audience is the endpoint that
 * is asked.
 */
//= rfc7523#3
//= rfc7515#4.1.8
function certificateAssertion({ privateKey, thumbprint }: ClientCertificate): ClientAuth {
  const key = privateKey.toCryptoKey({ name: "RSA-PSS", hash: "SHA-256" }, false, ["sign"]);
  return async (server, ...request) => {
    const authenticate = PrivateKeyJwt(key, {
      [modifyAssertion]: (header, payload) => {
        Object.assign(header, { typ: "JWT", "x5t#S256": thumbprint });
        payload["aud"] = server.token_endpoint;
      },
    });
    await authenticate(server, ...request);
  };
}
