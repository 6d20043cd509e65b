/**
 * The platform's side of the contract with the broker, on oauth4webapi: push the request, finish
 * with the code and the user's own verifier, refresh, revoke, check, register, explain. Stores
 * nothing of a user: the caller keeps the session and the tokens.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  type Client,
  customFetch,
  generateRandomCodeVerifier,
  generateRandomState,
  processPushedAuthorizationResponse,
  pushedAuthorizationRequest,
  refreshTokenGrantRequest,
  revocationRequest,
} from "oauth4webapi";
import type { Clock, Fetch } from "../ports.ts";
import { systemClock } from "../clock.ts";
import { requireToken, translatingBy } from "../error.ts";
import { NOTHING_TO_REFRESH, refreshFailure } from "../refresh-outcome.ts";
import { refused, requireContext, requireOwner, requireSession, SESSION_SECONDS, type Session } from "../session.ts";
import { createSpentSessions } from "../spent-sessions.ts";
import { createWaits } from "../waits.ts";
import type { ConnectClient, GrantTarget, StartRequest } from "../types.ts";
import { requireSuccess, translate, withRestart } from "./answer-error.ts";
import { clientAuthentication, type ClientCredentials } from "./authentication.ts";
import type { AnswerEncryption } from "./encrypted-answer.ts";
import { check, type Explanation, explain, register, type RegisterOptions, type RegistrationAnswer } from "./extras.ts";
import { readBrokerCallback } from "./finish.ts";
import { brokerFetch } from "./http.ts";
import { createMetadata, isInsecure, requireIssuerUrl } from "./metadata.ts";
import { grantForm, present, startForm } from "./request-form.ts";
import { readRevoked } from "./revoked.ts";
import { readTokens } from "./token-answer.ts";

/** Which broker, which of its clients this backend is, and how it authenticates. */
export interface BrokerClientOptions extends ClientCredentials {
  /** The broker's `base_url`, byte for byte. */
  readonly issuer: string;
  /** One of this client's redirect URIs at the broker, byte for byte. */
  readonly redirectUri: string;
  /**
   * For a client that has registered `token_encrypted_response_alg`: a response that is not
   * encrypted is then refused.
   */
  readonly encryption?: AnswerEncryption;
  /** Default: the global fetch. */
  readonly fetch?: Fetch;
  readonly now?: Clock;
}

/** The calls of `ConnectClient`, answered by the broker, and what the broker offers too. */
export interface BrokerClient extends ConnectClient {
  /**
   * Registers a client at a vendor with dynamic registration: the vendor's response unchanged, or
   * the broker's refusal.
   */
  register(vendor: string, options?: RegisterOptions): Promise<RegistrationAnswer>;
  /**
   * What the broker would do, secrets redacted; nothing is stored. By `connection`, or as `start`.
   *
   * @throws BrokerClientError
   */
  explain(request: StartRequest & GrantTarget): Promise<Explanation>;
}

/**
 * Sends no request yet: the broker may start later.
 *
 * @throws Error when an option is malformed
 */
export function createBrokerClient(options: BrokerClientOptions): BrokerClient {
  const { issuer, clientId, redirectUri, encryption, now = systemClock } = options;
  requireIssuerUrl(issuer);
  requireOwner({ clientId, redirectUri });
  const client: Client = { client_id: clientId };
  const authenticate = clientAuthentication(options);
  const fetch = brokerFetch(options.fetch);
  const metadata = createMetadata(issuer, { fetch, now });
  const once = createSpentSessions(now, (error) => withRestart(translate(error)));
  const unlessWaiting = createWaits(now);
  const http = { [customFetch]: fetch, [allowInsecureRequests]: isInsecure(issuer) };
  const answered = { client, encryption, now };
  const extras = { issuer, client, authenticate, metadata, fetch };

  return {
    start: (request) =>
      translating(async () => {
        const server = await metadata();
        const session: Session & { readonly codeVerifier: string } = {
          v: 1,
          context: issuer,
          clientId,
          redirectUri,
          state: generateRandomState(),
          codeVerifier: generateRandomCodeVerifier(),
          expiresAt: now() + SESSION_SECONDS,
        };
        //= rfc9126#2.1
        const parameters = {
          response_type: "code",
          redirect_uri: redirectUri,
          state: session.state,
          //= rfc7636#4.3
          code_challenge: await calculatePKCECodeChallenge(session.codeVerifier),
          code_challenge_method: "S256",
          ...startForm(request),
        };
        const answer = await pushedAuthorizationRequest(server, client, authenticate, parameters, http);
        const pushed = await processPushedAuthorizationResponse(server, client, await requireSuccess(answer));
        const url = new URL(server.authorization_endpoint);
        //= rfc9126#4
        url.search = new URLSearchParams({ client_id: clientId, request_uri: pushed.request_uri }).toString();
        return { url: url.href, session };
      }),

    finish: (callbackUrl, given) =>
      translating(async () => {
        const session = requireSession(given, { clientId, redirectUri }, now);
        requireContext(session, issuer);
        const server = await metadata();
        const parameters = readBrokerCallback(callbackUrl, session, { server, client });
        const { codeVerifier } = session;
        if (codeVerifier === undefined) throw refused("malformed", "The session has no code verifier");
        return once(session, async () => {
          const grant = [server, client, authenticate, parameters, redirectUri, codeVerifier, http] as const;
          return readTokens(await authorizationCodeGrantRequest(...grant), "code", { ...answered, server });
        });
      }),

    refresh: async ({ refreshToken: given, ...request }) => {
      const refreshToken = given ?? "";
      if (refreshToken === "") return NOTHING_TO_REFRESH;
      return unlessWaiting({ ...request, refreshToken }, async () => {
        try {
          const server = await metadata();
          const additionalParameters = { ...grantForm(request), ...present({ scope: request.scope }) };
          const more = { ...http, additionalParameters };
          const answer = await refreshTokenGrantRequest(server, client, authenticate, refreshToken, more);
          return { outcome: "ok", tokens: await readTokens(answer, "refresh", { ...answered, server }) };
        } catch (error) {
          return refreshFailure(translate(error));
        }
      });
    },

    revoke: (request) =>
      translating(async () => {
        requireToken(request.token);
        const server = await metadata();
        const hint = present({ token_type_hint: request.tokenTypeHint });
        const more = { ...http, additionalParameters: { ...grantForm(request), ...hint } };
        const answer = await revocationRequest(server, client, authenticate, request.token, more);
        return readRevoked(answer);
      }),

    check: (request) =>
      translating(() => {
        requireToken(request.accessToken);
        return check(request, { ...extras, now });
      }),

    register: (vendor, more = {}) => translating(() => register(vendor, more, extras)),
    explain: (request) => translating(() => explain(request, extras)),
  };
}

const translating = translatingBy(translate);
