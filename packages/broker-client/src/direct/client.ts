/**
 * The same interface without a broker: a deployment that is a client of the vendor itself, with its
 * own redirect URI. Protocol, dialects and checks are oauth-core's, the same that the broker uses;
 * sessions follow the rules of the client for the broker.
 */
import { type Clock, defined, type Fetch, OAuthError, systemTimer, toOAuthError } from "@oauth-broker/oauth-core";
import {
  createVendorClient,
  flowContextHash,
  requireTokenHost,
  requireMetDemands,
} from "@oauth-broker/oauth-core/vendor-client";
import { parseScope } from "@oauth-broker/oauth-core/protocol";
import type { ResolvedVendor, Vendor } from "@oauth-broker/oauth-core/registry";
import { createEgress, type EgressOptions, requireEgressUrl } from "@oauth-broker/oauth-core/egress";
import { systemClock } from "../clock.ts";
import { requireToken, translatingBy } from "../error.ts";
import { NOTHING_TO_REFRESH, refreshFailure } from "../refresh-outcome.ts";
import { requireContext, requireOwner, requireSession } from "../session.ts";
import { createSpentSessions } from "../spent-sessions.ts";
import { createWaits } from "../waits.ts";
import type { ConnectClient, Revoked } from "../types.ts";
import { connectionOf, firstSubject, requireConnection, withCheckHosts } from "./connection.ts";
import { readVendorCallback } from "./finish.ts";
import { problem } from "./problem.ts";
import { authorizationRequest, newSession, requireTarget } from "./request.ts";
import { createRevocations } from "./revocations.ts";
import { checkedOf, tokensOf } from "./tokens.ts";
import { directVendor, type DirectVendorOptions } from "./vendor.ts";

/** The vendor, this deployment's client there, and which addresses may be reached. */
export interface DirectOptions extends DirectVendorOptions {
  /**
   * Registered at the vendor, byte for byte. A path for each vendor: when a vendor sends no `iss`,
   * only the path distinguishes its redirects from another's.
   */
  readonly redirectUri: string;
  /** What may be reached. Default: public addresses over https, and nothing else. */
  readonly egress?: Partial<Pick<EgressOptions, "allowLoopback" | "allowCidrs" | "caPem" | "proxy" | "timeoutMs">>;
  /** Replaces the guarded egress that `egress` describes. */
  readonly fetch?: Fetch;
  readonly now?: Clock;
}

/** The calls of `ConnectClient`, answered by the vendor itself. It holds connections: close it. */
export interface DirectClient extends ConnectClient {
  /** Waits for running requests, then closes every connection. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;

/**
 * A client of one vendor. Sends no request yet: discovery runs when a user starts.
 *
 * @throws Error when an option is malformed; OAuthError as directVendor, and invalid_request,
 *   reason `endpoint_forbidden`, for a vendor that `egress` does not allow
 */
export function direct(options: DirectOptions): DirectClient {
  const { redirectUri, now = systemClock } = options;
  const owner = { clientId: options.credentials.clientId, redirectUri };
  requireOwner(owner);
  const { vendor: entry, credentials } = directVendor(options);
  const { clientId } = credentials;
  const { allowLoopback = false, allowCidrs = [] } = options.egress ?? {};
  // With its own fetch the program decides which ports that reaches.
  const operatorUrls = options.fetch === undefined ? urlsOf(entry) : [];
  requireReachable(entry, { allowLoopback, allowCidrs, anyPort: options.fetch === undefined });
  const given = { timeoutMs: TIMEOUT_MS, ...defined(options.egress ?? {}), allowLoopback, allowCidrs, operatorUrls };
  const { fetch, close } =
    options.fetch === undefined ? createEgress(given) : { fetch: options.fetch, close: async () => undefined };
  const vendorClient = createVendorClient({ fetch, timer: systemTimer, now, allowLoopback, allowCidrs, operatorUrls });
  const once = createSpentSessions(now, problem);
  const unlessWaiting = createWaits(now);
  const revocations = createRevocations(now);
  const resolve = async (): Promise<ResolvedVendor> => vendorClient.resolve(entry);
  const contextOf = (vendor: ResolvedVendor): string =>
    flowContextHash({ vendor, clientId, credentialsId: credentials.id, platformClientId: "", redirectUri });

  return {
    start: (request) =>
      translating(async () => {
        const given = requireTarget(request, entry.id);
        const vendor = await resolve();
        const session = newSession(given, vendor, { ...owner, context: contextOf(vendor) }, now());
        const asked = authorizationRequest(session, vendor, given);
        requireMetDemands(vendor, credentials, asked.scope);
        return { url: vendorClient.authorizationUrl(vendor, asked), session };
      }),

    finish: (callbackUrl, given) =>
      translating(async () => {
        const session = requireSession(given, owner, now);
        const vendor = await resolve();
        requireContext(session, contextOf(vendor));
        const { callbackData, ...callback } = readVendorCallback(callbackUrl, session, vendor);
        const { codeVerifier, nonce, resource, scope } = session;
        const redeem = {
          ...callback,
          callbackData,
          redirectUri,
          scope: scope === undefined ? [] : parseScope(scope),
          ...defined({ codeVerifier, nonce, resource }),
        };
        return once(session, async () => {
          const at = now();
          const tokens = await vendorClient.redeemCode(vendor, credentials, redeem);
          const connection = connectionOf(vendor, clientId, tokens.idToken, callbackData);
          const vendorData = { ...callbackData, ...tokens.vendorData };
          return tokensOf({ ...tokens, vendorData }, { vendor, connection, at });
        });
      }),

    refresh: (request) =>
      unlessWaiting(request, async () => {
        try {
          const { refreshToken = "", connection, scope } = requireTarget(request, entry.id);
          if (refreshToken === "") return NOTHING_TO_REFRESH;
          const vendor = await resolve();
          const known = connection === undefined ? undefined : requireConnection(connection, vendor, clientId);
          if (known !== undefined) requireTokenHost(known.hosts, vendor.refreshEndpoint ?? vendor.tokenEndpoint);
          const expected = firstSubject({ ...known });
          const at = now();
          const fresh = await vendorClient.refreshTokens(vendor, credentials, {
            refreshToken,
            ...(scope === undefined ? {} : { scope: parseScope(scope) }),
            ...defined({ expected, callbackData: known?.callbackData }),
          });
          //= bar#RV-4
          if (await revocations.has(refreshToken)) {
            await vendorClient.revokeGrant(vendor, credentials, fresh).catch(() => undefined);
            throw new OAuthError("invalid_grant", "This token has been revoked: the user must authorize again");
          }
          //= rfc6749#6
          const tokens = { ...fresh, refreshToken: fresh.refreshToken ?? refreshToken };
          const named =
            known?.v === 2 ? withCheckHosts(known, vendor) : connectionOf(vendor, clientId, expected ?? fresh.idToken);
          return { outcome: "ok", tokens: tokensOf(tokens, { vendor, connection: named, at }) };
        } catch (error) {
          return refreshFailure(problem(error));
        }
      }),

    revoke: (request) =>
      translating(async (): Promise<Revoked> => {
        const { token, tokenTypeHint, connection } = requireTarget(request, entry.id);
        requireToken(token);
        const vendor = await resolve();
        const known = connection === undefined ? undefined : requireConnection(connection, vendor, clientId);
        if (known?.v === 2) requireTokenHost(known.hosts, vendor.revocationEndpoint);
        const hint = tokenTypeHint === undefined ? {} : { tokenTypeHint };
        try {
          const revocation = vendorClient.revokeToken(vendor, credentials, { token, ...hint });
          revocations.add(token, revocation);
          return { outcome: "revoked", revoked: await revocation };
        } catch (error) {
          if (!(error instanceof OAuthError) || error.code !== "unsupported_token_type") throw error;
          return { outcome: "unsupported", help: error.extras.help ?? error.description, error: problem(error) };
        }
      }),

    check: (request) =>
      translating(async () => {
        const { accessToken, connection, scope = "" } = requireTarget(request, entry.id);
        requireToken(accessToken);
        const vendor = await resolve();
        const known = requireConnection(connection, vendor, clientId);
        const at = now();
        const found = await vendorClient.checkAccessToken(vendor, credentials, {
          accessToken,
          scope: parseScope(scope),
          hosts: [...known.hosts, ...(known.checkHosts ?? [])],
          ...defined({ account: firstSubject(known) }),
        });
        return checkedOf(found, at);
      }),

    close,
  };
}

/** Found when it is created, since the vendor is not the user's choice but the deployment's. */
function requireReachable(
  { issuer, tokenEndpoint }: Vendor,
  rules: Pick<EgressOptions, "allowLoopback" | "allowCidrs"> & { readonly anyPort: boolean },
): void {
  const asked = tokenEndpoint ?? issuer;
  if (asked === undefined) return;
  try {
    requireEgressUrl(asked, rules);
  } catch (error) {
    const { code, description, extras } = toOAuthError(error);
    throw new OAuthError(code, `${description}, or be allowed by egress`, extras);
  }
}

/** The program's own: at their hosts any https port may be asked. */
function urlsOf(entry: Vendor): string[] {
  return Object.values(entry)
    .filter((value) => typeof value === "string")
    .filter((value) => value.startsWith("https://"));
}

const translating = translatingBy(problem);
