/**
 * What follows when an answer with tokens is refused, while it is read or after: its tokens reach
 * no client, and what the vendor has spent for them is said. Called by redeem.ts and refresh.ts.
 */
import { defined } from "../../mechanics/defined.ts";
import { OAuthError } from "../../protocol/errors.ts";
import { isSameText } from "../../protocol/mac.ts";
import type { ResolvedVendor, VendorCredentials } from "../../registry/vendor.ts";
import type { SeenTokens } from "./response.ts";
import type { TokenDeps } from "./validate-response.ts";

/** The grant whose answer is refused. */
export interface RefusedGrant {
  readonly vendor: ResolvedVendor;
  readonly credentials: VendorCredentials;
  /** That the answer shows. */
  readonly seen: SeenTokens;
  /** The refresh token that was sent, at a refresh. */
  readonly sentRefreshToken?: string;
}

/**
 * Revokes what the answer has issued: at a redemption its tokens, at a refresh only a refresh token
 * that is new. If the old token stays valid, a revocation of anything else could end the grant.
 *
 * @returns the error, with `retry` if the old refresh token is spent, or a new token is lost
 */
export function refuse(error: unknown, grant: RefusedGrant, { discard }: Pick<TokenDeps, "discard">): unknown {
  const { vendor, credentials, seen, sentRefreshToken } = grant;
  const isNew = seen.refreshToken !== undefined && !isSameText(seen.refreshToken, sentRefreshToken ?? "");
  if (sentRefreshToken === undefined) discard(vendor, credentials, seen);
  else if (isNew) discard(vendor, credentials, defined({ refreshToken: seen.refreshToken }));
  //= bar#RF-9
  return vendor.rotatesRefreshTokens === true || isNew ? withRestartHint(error) : error;
}

function withRestartHint(error: unknown): unknown {
  if (!(error instanceof OAuthError)) return error;
  const { code, description, extras, detail, retryAfterSeconds } = error;
  return new OAuthError(code, description, {
    ...extras,
    retry: "restart",
    cause: error,
    ...defined({ detail, retryAfterSeconds }),
  });
}
