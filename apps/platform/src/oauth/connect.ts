/**
 * Connects a user: start() and the redirect to the vendor, then the callback and finish(). Between
 * them a record waits that only the browser session that started the flow can use, and only once.
 * Before it: routes/connect.ts. After it: connections.ts.
 */
import { computeScopeUnion } from "@modelcontextprotocol/client";
import { BrokerClientError, type StartRequest } from "@oauth-broker/broker-client";
import { defined, type EpochSeconds, type JsonObject, OAuthError, Secret } from "@oauth-broker/oauth-core";
import { isSubset, parseScope } from "@oauth-broker/oauth-core/protocol";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import type { Connector } from "../connectors/connector.ts";
import { openSecret, sealSecret } from "../connectors/connector-secrets.ts";
import type { ConnectorStore } from "../connectors/store-on-records.ts";
import { refusal } from "../refusal.ts";
import type { SignedIn } from "../users/session.ts";
import { type ClientDeps, clientOfConnector, noSignIn, notDeployed } from "./client-of-connector.ts";
import type { ConnectFailure, Connections, LastFlow } from "./connections.ts";
import { recipientOfConnector } from "./recipient.ts";

export interface ConnectDeps extends ClientDeps {
  readonly connectors: ConnectorStore;
  readonly connections: Connections;
}

export interface Finished {
  readonly connectorId: string;
  /** Absent: connected. Stored with the connection, for its page. */
  readonly failure?: ConnectFailure;
}

const KIND = "connect-flow";

/**
 * @param placeholders what the user has filled in
 * @returns the URL for the browser
 * @throws OAuthError invalid_request for a connector that cannot be connected; its failures and
 *   BrokerClientError otherwise
 */
export async function startConnect(
  connector: Connector,
  by: SignedIn,
  deps: ConnectDeps,
  placeholders: Readonly<Record<string, string>> = {},
): Promise<string> {
  requireConnectable(connector);
  const owner = ownerOfFlow(by);
  const { scope, wantedScope } = await deps.connections.status(connector, by.user.id);
  //= mcp-2026-07-28/authorization#scope-challenge-handling
  const isMore = wantedScope !== undefined && mayAskFor(wantedScope, connector);
  const more = isMore ? computeScopeUnion(scope, wantedScope) : undefined;
  const client = await clientOfConnector(connector, deps);
  const { url, session } = await client.start({ ...requestOf(connector, placeholders), ...defined({ scope: more }) });
  const id = hashOf(session.state);
  const sealed = await sealSecret(deps.keys, new Secret(JSON.stringify(session)), placeOf(id, owner));
  const flow = { connector: connector.id, recipient: recipientOfConnector(connector), startedAt: deps.now() };
  const data = { v: 1, owner, user: by.user.id, ...flow, sealed };
  await deps.records.create({ key: { kind: KIND, id }, stage: "started", data, expiresAt: session.expiresAt });
  return url;
}

function requestOf(
  { withoutServer, settings }: Connector,
  filledIn: Readonly<Record<string, string>>,
): Pick<StartRequest, "prompt" | "resource" | "placeholders"> {
  const placeholders = { ...settings.placeholders, ...filledIn };
  return { ...withoutServer?.request, ...(Object.keys(filledIn).length === 0 ? {} : { placeholders }) };
}

/**
 * Binds a connect flow to the browser session that started it. Recorded at its start, compared at
 * its end.
 */
//= rfc9700#4.7.1
//= bar#XA-7
function ownerOfFlow({ sessionId }: SignedIn): string {
  return sessionId;
}

/**
 * An administrator's scopes are the most that users are asked for, even if the server requests
 * more.
 */
export function mayAskFor(scope: string, { settings: { scopes } }: Connector): boolean {
  return scopes === undefined || isSubset(parseScope(scope), parseScope(scopes));
}

/**
 * @param callbackUrl as the browser requested it
 * @returns also the vendor's refusal, which is stored with the connection and shown on its page
 * @throws OAuthError invalid_request, reason `state_missing`, `state_mismatch` or `state_replayed`,
 *   for the answer to a flow that this browser's user did not start or has already finished; then
 *   no call is made
 */
export async function finishConnect(callbackUrl: string, by: SignedIn, deps: ConnectDeps): Promise<Finished> {
  const { user } = by;
  const flow = await takeFlow(stateOf(callbackUrl), ownerOfFlow(by), deps);
  const connector = await deps.connectors.find(flow.connector);
  if (connector === undefined) throw new OAuthError("not_found", "This connector does not exist");
  const end = (isConnected: boolean) =>
    connector.withoutServer && endOf(callbackUrl, flow, { isConnected, endedAt: deps.now() });
  try {
    requireSameRecipient(flow, connector);
    const client = await clientOfConnector(connector, deps);
    const tokens = await client.finish(callbackUrl, flow.session);
    await deps.connections.save(connector, user.id, tokens, { flow: end(true) }).catch(async (error: unknown) => {
      // No later disconnect could end tokens that are not stored. Best effort.
      await client.revoke(tokens).catch(() => undefined);
      throw error;
    });
    return { connectorId: connector.id };
  } catch (error) {
    const failure = { ...describeFailure(error), at: deps.now() };
    await deps.connections.recordFailure(connector, user.id, failure, end(false));
    return { connectorId: connector.id, failure };
  }
}

/**
 * The standardized error, for the page.
 * @throws the error itself when it is a bug
 */
export function describeFailure(error: unknown): Omit<ConnectFailure, "at"> {
  if (!(error instanceof OAuthError || error instanceof BrokerClientError)) throw error;
  const { code, description } = error;
  const { reason, flowId, vendorError }: BrokerClientError["details"] =
    error instanceof OAuthError ? error.extras : error.details;
  return { error: code, description, ...defined({ reason, flowId, vendorError }) };
}

function requireConnectable({ state, serverUrl, withoutServer, settings }: Connector): void {
  if (settings.authentication === "none") throw noSignIn();
  if (serverUrl === undefined && withoutServer === undefined) throw notDeployed();
  if (state === "active") return;
  throw refusal("draft", "This connector is a draft. It can be connected once a deploy has activated it");
}

/** For the page of a connector without a server, which shows what was checked. */
function endOf(url: string, { startedAt }: Flow, end: Pick<LastFlow, "isConnected" | "endedAt">): LastFlow {
  const id = new URL(url).searchParams.get("flow_id") ?? undefined;
  return { startedAt: startedAt ?? end.endedAt, ...end, ...defined({ id }) };
}

/** The client changed: tokens of the former client would be stored as those of the new client. */
function requireSameRecipient({ recipient }: Pick<Flow, "recipient">, connector: Connector): void {
  //= bar#BY-4
  if (recipient === recipientOfConnector(connector)) return;
  throw refusal("settings_changed", "The settings of this connector have changed. Connect again", "invalid_grant");
}

interface Flow {
  readonly connector: string;
  readonly recipient: string;
  /** Absent in a flow that an earlier release began. */
  readonly startedAt?: EpochSeconds;
  readonly session: unknown;
}

function stateOf(callbackUrl: string): string {
  const [state = "", second] = new URL(callbackUrl).searchParams.getAll("state");
  if (state !== "" && second === undefined) return state;
  throw refusal("state_missing", "This answer belongs to no request of yours. Start again under Connectors");
}

/**
 * Runs before anything is sent: checks that the flow is this session's, and spends it for this call
 * alone.
 */
async function takeFlow(
  state: string,
  owner: string,
  { records, keys }: Pick<ConnectDeps, "records" | "keys">,
): Promise<Flow> {
  const id = hashOf(state);
  const key = { kind: KIND, id };
  const found = await records.get(key);
  // Another session matches nothing, so it cannot spend a flow of this one.
  const from = { stage: "started", expect: { owner } };
  const { outcome } = await records.advance(key, from, { stage: "spent", set: {}, remove: ["sealed"] });
  if (outcome === "replayed") {
    throw refusal("state_replayed", "This sign-in is already finished. See Connectors for its result");
  }
  if (outcome === "absent" || found === undefined) {
    throw refusal(
      "state_mismatch",
      "This answer belongs to no sign-in that you started in this browser, or it came too late. Start again under Connectors",
    );
  }
  const { sealed, ...flow } = found.data;
  const session = await openSecret(keys, sealed as JsonObject, placeOf(id, owner));
  return { ...(flow as unknown as Omit<Flow, "session">), session: JSON.parse(session.reveal()) };
}

const placeOf = (id: string, owner: string): readonly string[] => ["session of a connect flow", id, owner];
