/**
 * The policy of a server with its own callback, and the record of a flow. Its clients are public,
 * it has one vendor, and the vendor's tokens stay here: the client gets our tokens.
 */
import { defined, OAuthError, parseExactJson, type StoredRecord } from "@oauth-broker/oauth-core";
import { verifyNativeRedirectUri } from "@oauth-broker/oauth-core/authorization-server";
import {
  type BrokeredCode,
  createBrokeredCode,
  type FlowPolicy,
  type FlowRecord,
  type FlowVendor,
  HANDLE_STATE,
  type Parked,
} from "@oauth-broker/oauth-core/brokered-code";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import { identitySource, isSameSource } from "../records/identity-source.ts";
import { vendorSecrets } from "../authorization/vendor-secrets.ts";
import type { FindServerClient } from "../clients/client.ts";
import type { HostedDeps } from "../deps.ts";
import type { LinkPolicy, ServerCallback } from "../../settings.ts";
import { refusePage } from "../authorization/refusal.ts";

/** The shared dependencies of the legs with the server's own callback. */
export interface ServerCallbackDeps extends HostedDeps {
  readonly callback: ServerCallback;
  readonly findClient: FindServerClient;
}

/** So that a second use of a code is recognised, and its session ended. */
const REMEMBERED_SECONDS = 600;

/** The record of one authorization: the engine's fields, and the source of the identity. */
export interface Authorization extends FlowRecord {
  readonly v: 3;
  readonly clientId: string;
  /** With `vendor` the source of the identity, which also names the link. */
  readonly issuer: string;
  readonly redirectUri: string;
  /** PKCE #1. */
  readonly codeChallenge: string;
  /** With `VENDORS`: the session's, as the consent page showed it. `scope` is the vendor's. */
  readonly sessionScope?: readonly string[];
  /** As `startedAt`. Absent in a flow that an earlier release started. */
  readonly startedAtMilliseconds?: number;
  /** The session it produced. */
  readonly sessionId?: string;
}

/** @throws OAuthError server_error for a format this release does not know */
function toAuthorization({ data }: StoredRecord, links: LinkPolicy): Authorization {
  if (data["v"] !== 3) throw new OAuthError("server_error", "This sign-in was started by another release: start again");
  // A flow that began with `VENDOR` showed its consent page the scopes of the only vendor.
  const { scope, sessionScope = links.nameScopes(scope, links.signIn), ...rest } = data as unknown as Authorization;
  return { ...rest, scope, ...defined({ sessionScope: links.consentedScope(sessionScope) }) };
}

export type Flows = BrokeredCode<Authorization, FlowVendor>;

export interface LegDeps extends ServerCallbackDeps {
  readonly flows: Flows;
}

export function createFlows(deps: ServerCallbackDeps): Flows {
  const { records, now, settings } = deps;
  return createBrokeredCode({ records, now, issuer: settings.deploymentUrl }, flowPolicy(deps));
}

/**
 * Begins tokens parked for a vendor with `redeem_at: callback`: they are sealed under a server key in
 * addition to our code.
 */
const TOKENS = "tokens.";

export function flowPolicy(deps: ServerCallbackDeps): FlowPolicy<Authorization, FlowVendor> {
  const { settings, callback, vendorClient, findClient, sessions, serverKey } = deps;
  const tokenKey = async (code: string): Promise<Buffer> =>
    deriveKey(Buffer.concat([await serverKey.derive("parked-tokens"), Buffer.from(code)]), "parked-tokens");
  return {
    kind: "authorization",
    // The operator may have changed the vendor: a flow started before is unknown here, and its
    // codes are another vendor's.
    parse: (record) => {
      const authorization = toAuthorization(record, settings.links);
      return isSameSource(authorization, identitySource(settings)) ? authorization : undefined;
    },
    state: HANDLE_STATE,
    secrets: (flowId, _flow, vendor) => vendorSecrets(flowId, vendor, settings.vendor.scopes, deps),
    seal: async (parked, { value, flowId }) => {
      const text = JSON.stringify(parked);
      if (parked.kind === "code") return seal(deriveKey(value, "vendor-code"), text, ["authorization", flowId]);
      return TOKENS + seal(await tokenKey(value), text, ["authorization", flowId, "tokens"]);
    },
    open: async ({ sealed = "" }, { value, flowId }) => {
      const plaintext = sealed.startsWith(TOKENS)
        ? open(await tokenKey(value), sealed.slice(TOKENS.length), ["authorization", flowId, "tokens"])
        : open(deriveKey(value, "vendor-code"), sealed, ["authorization", flowId]);
      return parseExactJson(plaintext.toString("utf8")) as unknown as Parked;
    },
    redirectOf: async ({ clientId, redirectUri }) => {
      const client = await findClient(clientId);
      return client === undefined ? undefined : verifyNativeRedirectUri(redirectUri, client.redirectUris);
    },
    vendorOf: async () => ({
      vendor: await vendorClient.resolve(settings.vendor.vendor),
      credentials: settings.vendor.credentials,
      vendorClient,
      redirectUri: callback.redirectUri,
    }),
    //= bar#AS-8
    bindsBrowser: () => true,
    forgotten: { whenParked: ["state"], atEnd: ["sealed", "state"] },
    // The clients are public: anyone who saw a code could end it.
    burnsOnWrongVerifier: false,
    redirectUriAtToken: "optional",
    // A lost response gave no session, so a second attempt does no harm.
    releases: () => true,
    rememberSeconds: REMEMBERED_SECONDS,
    replayed: async ({ sessionId }) => {
      if (sessionId !== undefined) await sessions.end(sessionId);
    },
    refuse: refusePage,
  };
}
