/**
 * POST /v1/revoke (RFC 7009): asks the vendor to revoke the token; the answer says what was
 * revoked.
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import { requireTokenHost } from "@oauth-broker/oauth-core/vendor-client";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import type { ClientConfig } from "../config.ts";
import type { Trace } from "@oauth-broker/service/http";
import type { Deps } from "../deps.ts";
import { equalRefreshes } from "./refresh.ts";
import { readGrantContext } from "../grants/grant-context.ts";
import { readSealedGrant } from "../grants/sealed-refresh-token.ts";
import type { SingleFlight } from "../grants/single-flight.ts";
import type { PresentedToken } from "../grants/token-binding.ts";

/**
 * @throws OAuthError unsupported_token_type with `help` when the vendor has no way to revoke, and
 *   for a token alone that does not say what minted it
 */
//= rfc7009#2.1
export async function revoke(
  parameters: Parameters,
  client: ClientConfig,
  deps: Deps & { readonly singleFlight: SingleFlight },
  trace: Trace,
): Promise<{ revoked: "token" | "grant" | "already" }> {
  const presented = parameters.require("token");
  const grant = await readSealedGrant(presented, client.clientId, deps, notByItself);
  if (grant === undefined && client.refreshTokens === "sealed" && !namesOrigin(parameters)) throw notByItself();
  const token: PresentedToken | undefined =
    grant === undefined ? { value: presented, kinds: ["access", "refresh"] } : undefined;
  const context = await readGrantContext(parameters, client, deps, trace, { token, grant });
  const { vendor, credentials, connection, vendorClient } = context;
  requireTokenHost(connection.hosts, vendor.revocationEndpoint);
  const revoked = await vendorClient.revokeToken(
    vendor,
    credentials,
    grant === undefined
      ? { token: presented, ...defined({ tokenTypeHint: readHint(parameters.get("token_type_hint")) }) }
      : { token: grant.refreshToken, tokenTypeHint: "refresh_token" },
  );
  // Before it is answered: no refresh hands out what has just been revoked.
  await deps.singleFlight.revoke(equalRefreshes(grant?.refreshToken ?? presented, [], client, context));
  await deps.audit.record("revoked", { ...trace, reason: revoked });
  return { revoked };
}

/** An unknown hint is ignored. */
//= rfc7009#2.1
function readHint(hint: string | undefined): "access_token" | "refresh_token" | undefined {
  return hint === "access_token" || hint === "refresh_token" ? hint : undefined;
}

function namesOrigin(parameters: Parameters): boolean {
  return ["connection", "vendor", "issuer", "token_endpoint"].some((name) => parameters.has(name));
}

/** A sealed refresh token is the one kind that says what minted it. */
//= rfc7009#2.2.1
function notByItself(): OAuthError {
  return new OAuthError("unsupported_token_type", "This token cannot be revoked by itself", {
    help: "Send the refresh token as the last answer had it, or the connection of its answer beside the token",
  });
}
