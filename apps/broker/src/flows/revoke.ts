/**
 * POST /v1/revoke (RFC 7009): asks the vendor to revoke the token; the answer says what was
 * revoked.
 */
import { defined } from "@oauth-broker/oauth-core";
import { requireTokenHost } from "@oauth-broker/oauth-core/client";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import type { ClientConfig } from "../config.ts";
import type { Trace } from "@oauth-broker/oauth-core/service";
import type { Deps } from "../deps.ts";
import { readGrantContext } from "../connections/grant-context.ts";

/** @throws OAuthError unsupported_token_type with `help` when the vendor has no way to revoke */
//= rfc7009#2.1
export async function revoke(
  parameters: Parameters,
  client: ClientConfig,
  deps: Deps,
  trace: Trace,
): Promise<{ revoked: "token" | "grant" | "already" }> {
  const token = parameters.require("token");
  const tokenTypeHint = readHint(parameters.get("token_type_hint"));
  const { vendor, credentials, connection, vendorClient } = await readGrantContext(parameters, client, deps, trace);
  requireTokenHost(connection.hosts, vendor.revocationEndpoint);
  const revoked = await vendorClient.revokeToken(vendor, credentials, {
    token,
    ...defined({ tokenTypeHint }),
  });
  await deps.audit.record("revoked", { ...trace, reason: revoked });
  return { revoked };
}

/** An unknown hint is ignored. */
//= rfc7009#2.1
function readHint(hint: string | undefined): "access_token" | "refresh_token" | undefined {
  return hint === "access_token" || hint === "refresh_token" ? hint : undefined;
}
