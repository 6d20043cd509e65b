/**
 * Leg 4, POST /token with grant_type=authorization_code: our own code, from the client it was given to, with the verifier of its
 * challenge, opens the parked vendor code; the vendor's tokens are kept for the user and the client gets tokens of ours.
 * Before it: finish-callback.ts. The client is known.
 */
import {
  type Advanced,
  type Handle,
  OAuthError,
  parseCodeVerifier,
  parseHandle,
  type Parameters,
  type StoredRecord,
  toOAuthError,
  verifyCodeVerifier,
  withRestart,
} from "@oauth-broker/oauth-core";
import type { Trace } from "@oauth-broker/oauth-core/service";
import { deriveKey, open } from "@oauth-broker/token-store";
import type { HostedClient } from "../clients.ts";
import { openSession, type Redeemed } from "../open-session.ts";
import { requireOwnResource } from "../requested.ts";
import type { IssuedTokens } from "../session.ts";
import { vendorSecrets } from "../vendor-secrets.ts";
import {
  asAuthorization,
  asData,
  type Authorization,
  authorizationKey,
  type AuthorizationStage,
  REMEMBERED_SECONDS,
} from "./authorization-record.ts";
import type { ServerCallbackDeps } from "./deps.ts";

interface OwnCode {
  readonly code: Handle;
  readonly flow: Authorization;
  readonly stage: string;
  /** Of the code. */
  readonly expiresAt: number;
}

/** @throws OAuthError invalid_grant, invalid_request, invalid_target; what the vendor's answer is translated to */
export async function redeemOwnCode(
  parameters: Parameters,
  client: HostedClient,
  deps: ServerCallbackDeps,
  trace: Trace,
): Promise<IssuedTokens> {
  const own = await findCode(parameters, deps, trace); //        1  a code of ours
  requireSameRequest(own, parameters, client, deps); //          2  this client's, this redirect URI's: else nothing is spent
  requireVerifier(own, parameters); //                           3  wrong: nothing is spent, the clients are public
  await claim(own, deps); //                                     4  of any number of tries one goes on
  const redeemed = await redeem(own, deps); //                   5  the vendor's code, with PKCE #2
  const started = await openSession(redeemed, client, deps); //  6  who it is; tokens kept, sealed; a session
  const { id: sessionId } = started.session;
  await settle("spent", own, { sessionId }, deps); //            7  a second use ends it
  return started.tokens;
}

/** Also one whose time is over, so that its second use is known for what it is. */
async function findCode(parameters: Parameters, { records }: ServerCallbackDeps, trace: Trace): Promise<OwnCode> {
  const code = parseHandle(parameters.require("code"));
  const record = code === undefined ? undefined : await records.get(authorizationKey(code.flowId));
  if (code === undefined || record === undefined) throw unknown();
  const flow = asAuthorization(record);
  if (flow.codeHash !== code.hash) throw unknown();
  trace.flowId = code.flowId;
  return { code, flow, stage: record.stage, expiresAt: record.expiresAt };
}

//= bar#AS-6
function requireSameRequest(
  { flow }: OwnCode,
  parameters: Parameters,
  { clientId }: HostedClient,
  { settings }: ServerCallbackDeps,
): void {
  if (flow.clientId !== clientId) throw unknown("another client's code");
  //= rfc6749#4.1.3
  if (parameters.require("redirect_uri") !== flow.redirectUri) {
    throw new OAuthError("invalid_grant", "redirect_uri differs from that of the authorization request");
  }
  requireOwnResource(parameters, settings);
}

//= bar#AS-3
function requireVerifier({ flow }: OwnCode, parameters: Parameters): void {
  const codeVerifier = parseCodeVerifier(parameters.get("code_verifier"));
  verifyCodeVerifier(codeVerifier, flow.codeChallenge);
}

//= bar#AS-4
async function claim(own: OwnCode, { records, sessions, now }: ServerCallbackDeps): Promise<void> {
  const { code, flow } = own;
  const claimed: Advanced = await records.advance(
    authorizationKey(code.flowId),
    { stage: "parked", expect: { codeHash: code.hash } },
    // A process that dies here leaves a code that is used up.
    { stage: "redeeming", set: {}, expiresAt: now() + REMEMBERED_SECONDS },
  );
  if (claimed.outcome === "moved") return;
  const used: StoredRecord | undefined = claimed.outcome === "replayed" ? claimed.record : undefined;
  const sessionId = used === undefined ? flow.sessionId : asAuthorization(used).sessionId;
  if (sessionId !== undefined) await sessions.end(sessionId);
  throw new OAuthError("invalid_grant", "The code was used before", {
    detail: sessionId === undefined ? "code is being redeemed" : "code replayed: its session has ended",
  });
}

/**
 * Where no tokens came of it the code is as it was, for as long as it would have lived: it is the vendor who says whether its own
 * still is. A lost answer gave nobody a session, so that a second try can do no harm.
 */
//= bar#VR-5
async function redeem(own: OwnCode, deps: ServerCallbackDeps): Promise<Redeemed> {
  const { vendorClient, settings, callback } = deps;
  const { code, flow } = own;
  try {
    const vendor = await vendorClient.resolve(settings.vendor.vendor);
    const { codeVerifier, nonce } = await vendorSecrets(code.flowId, vendor, deps);
    const tokens = await vendorClient.redeemCode(vendor, settings.vendor.credentials, {
      code: vendorCode(own),
      redirectUri: callback.redirectUri,
      scope: flow.scope,
      ...(codeVerifier === undefined ? {} : { codeVerifier }),
      ...(nonce === undefined ? {} : { nonce }),
    });
    return { tokens, vendor, asked: flow.scope };
  } catch (thrown) {
    const isReleased = await settle("parked", own, {}, deps);
    const error = toOAuthError(thrown);
    throw isReleased ? error : withRestart(error);
  }
}

function vendorCode({ code, flow }: OwnCode): string {
  const key = deriveKey(code.value, "vendor-code");
  return open(key, flow.sealedCode ?? "", ["authorization", code.flowId]).toString("utf8");
}

/** @returns whether it is written; a code that stays claimed is used up */
async function settle(
  stage: Extract<AuthorizationStage, "parked" | "spent">,
  { code, expiresAt }: OwnCode,
  set: Partial<Authorization>,
  { records, now }: ServerCallbackDeps,
): Promise<boolean> {
  const patch = { stage, set: asData(set), expiresAt: stage === "parked" ? expiresAt : now() + REMEMBERED_SECONDS };
  return records
    .advance(authorizationKey(code.flowId), { stage: "redeeming", expect: { codeHash: code.hash } }, patch)
    .then(
      ({ outcome }) => outcome === "moved",
      () => false,
    );
}

function unknown(detail?: string): OAuthError {
  return new OAuthError(
    "invalid_grant",
    "The code is unknown, used or too old",
    detail === undefined ? {} : { detail },
  );
}
