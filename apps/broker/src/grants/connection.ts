/**
 * `connection`: an opaque value in every token answer that names the origin of the tokens, so that
 * refresh and revoke use exactly that and never guess. Sealed under the keyset and bound to the
 * client; nothing is stored. Values that name no user are sealed and opened once for many calls
 * (docs/decisions/0063).
 */
import { createExpiringMap, type ExpiringMap, OAuthError } from "@oauth-broker/oauth-core";
import { keptOf } from "@oauth-broker/oauth-core/vendor-client";
import { open, seal } from "@oauth-broker/token-store";
import type { Deps } from "../deps.ts";
import type { Account } from "./account.ts";
import type { ChosenBefore, VendorChoice } from "../vendor-choice/choose.ts";
import { targetFields } from "../vendor-choice/request.ts";

/**
 * Has the id at the vendor without BYOC too, except in a value of an earlier release: an operator
 * can give other credentials the same `credentialsId`, and those of the environment always have one.
 */
export interface Connection extends ChosenBefore {
  readonly v: 1;
  /** BYOC: whether it had a secret. The secret itself is never kept. */
  readonly hadSecret?: boolean;
  /**
   * The vendor's hosts for tokens, refresh and revocation: a token is never sent to any other host
   * (bar#BY-4).
   */
  readonly hosts: readonly string[];
  /**
   * The vendor's hosts that say whether an access token is good: a check sends it to these and
   * `hosts`. Absent in a value of an earlier release, until a refresh.
   */
  readonly checkHosts?: readonly string[];
  /**
   * The account (account.ts): issuer and subject of the first ID token, otherwise of userinfo. A
   * refreshed ID token must name the same account.
   */
  readonly iss?: string;
  readonly sub?: string;
  /** Parameters of the callback that the vendor requires again with every refresh. */
  readonly callbackData?: Readonly<Record<string, string>>;
  /** The tokens of the same answer (token-binding.ts). */
  readonly tokens?: TokenHashes;
}

/** Keyed hashes, base64url. */
export interface TokenHashes {
  readonly access: string;
  readonly refresh?: string;
}

export function connectionOf(
  { vendor, credentials, target }: Pick<VendorChoice, "vendor" | "credentials" | "target">,
  account: Account | undefined,
  callbackData: Readonly<Record<string, string>> = {},
): Connection {
  const { id, source, clientId, clientSecret } = credentials;
  return {
    v: 1,
    vendor: vendor.id,
    ...targetFields(target),
    credentialsId: id,
    credentialsSource: source,
    vendorClientId: clientId,
    ...(source === "byoc" ? { hadSecret: clientSecret !== undefined } : {}),
    ...keptOf(vendor, callbackData),
    ...account,
  };
}

/**
 * Values that name neither an account nor a token, by the choice of a vendor that they name. A
 * choice that is made once for a client and an entry of the configuration gives all tokens of that
 * client there one value.
 */
const SEALED = new WeakMap<VendorChoice, { readonly key: Buffer; readonly clientId: string; readonly value: string }>();

/** The value for new tokens of this client. */
export function issueConnection(
  choice: VendorChoice,
  connection: Connection,
  clientId: string,
  { keyset }: Pick<Deps, "keyset">,
): string {
  const { iss, sub, callbackData, tokens } = connection;
  if ((iss ?? sub ?? callbackData ?? tokens) !== undefined) return sealConnection(connection, clientId, { keyset });
  const { key } = keyset.active("connection");
  const sealed = SEALED.get(choice);
  if (sealed?.key === key && sealed.clientId === clientId) return sealed.value;
  const value = sealConnection(connection, clientId, { keyset });
  SEALED.set(choice, { key, clientId, value });
  return value;
}

export function sealConnection(connection: Connection, clientId: string, { keyset }: Pick<Deps, "keyset">): string {
  const { kid, key } = keyset.active("connection");
  return `${kid}.${seal(key, JSON.stringify(connection), ["connection", clientId])}`;
}

/**
 * Returns the value that a client presented if it says the same; otherwise, and if it presented none, seals it: with the
 * hashes of other tokens, under a newer key, or because it is of an earlier release and lacks the
 * check hosts of the vendor, which has just issued new tokens.
 *
 * @param connection as it is to be
 * @param before as it was presented
 */
export function resealConnection(
  presented: string | undefined,
  { connection, before }: { readonly connection: Connection; readonly before: Connection },
  clientId: string,
  vendor: VendorChoice["vendor"],
  { keyset }: Pick<Deps, "keyset">,
): string {
  const isCurrent = presented?.startsWith(`${keyset.active("connection").kid}.`) === true;
  const checkHosts = connection.checkHosts ?? keptOf(vendor).checkHosts;
  const lacksHosts = connection.checkHosts === undefined && checkHosts.length > 0;
  const isBound = (connection.tokens ?? before.tokens) !== undefined;
  if (isCurrent && !lacksHosts && !isBound) return presented;
  return sealConnection({ checkHosts, ...connection }, clientId, { keyset });
}

const MOST_OPENED = 1_000;
const OPENED_SECONDS = 300;
/** Opened values that name no user, by their key, then by client and value. */
const OPENED = new WeakMap<Buffer, ExpiringMap<Connection>>();

/** @throws OAuthError invalid_request when the value was altered or belongs to another client */
export async function openConnection(
  value: string,
  clientId: string,
  { keyset, now }: Pick<Deps, "keyset" | "now">,
): Promise<Connection> {
  const kid = kidOf(value);
  const key = await keyset.find("connection", kid);
  if (key === undefined) throw notOurs(new Error("unknown key"));
  const opened = openedUnder(key, now);
  // Prefixed with its length: no value of another client gives the same name.
  const name = `${clientId.length}:${clientId}${value}`;
  const known = opened.get(name);
  if (known !== undefined) return known;
  let text: string;
  try {
    text = open(key, value.slice(kid.length + 1), ["connection", clientId]).toString("utf8");
  } catch (cause) {
    throw notOurs(cause);
  }
  const parsed = JSON.parse(text) as { readonly v: number };
  if (parsed.v !== 1) throw notOurs(new Error("another format"));
  const connection = parsed as Connection;
  if (namesNoUser(connection)) opened.set(name, connection, now() + OPENED_SECONDS);
  return connection;
}

function openedUnder(key: Buffer, now: Deps["now"]): ExpiringMap<Connection> {
  const known = OPENED.get(key);
  if (known !== undefined) return known;
  const made = createExpiringMap<Connection>(MOST_OPENED, now);
  OPENED.set(key, made);
  return made;
}

/**
 * Whether everything in it comes from the operator's configuration: no account, no token, nothing
 * of a callback, and no value that a request brought, because a placeholder or an endpoint can name
 * the user's own tenant.
 */
function namesNoUser(connection: Connection): boolean {
  const { iss, sub, callbackData, tokens, credentialsSource } = connection;
  return (
    (iss ?? sub ?? callbackData ?? tokens) === undefined &&
    credentialsSource !== "byoc" &&
    Object.keys(targetFields(connection)).length === 0
  );
}

/** @param cause absent or an error, for the log */
export function notOurs(cause?: unknown): OAuthError {
  return new OAuthError("invalid_request", "connection is not one of this client", { cause });
}

/** The id of the key that a value is sealed under. */
export function kidOf(value: string): string {
  return value.slice(0, Math.max(value.indexOf("."), 0));
}
