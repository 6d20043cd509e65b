/**
 * We authenticate at a vendor with the key of a certificate in place of a secret: private_key_jwt by oauth4webapi, and what such
 * vendors want besides. Called by vendor-binding.ts for credentials that have a certificate.
 */
import { type ClientAuth, modifyAssertion, PrivateKeyJwt } from "oauth4webapi";
import type { ClientCertificate } from "../../vendors/vendor.ts";

/** The certificate is named in the header; the assertion is for the very endpoint that is asked. */
//= rfc7523#3
//= rfc7515#4.1.8
export function certificateAssertion({ privateKey, thumbprint }: ClientCertificate): ClientAuth {
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
