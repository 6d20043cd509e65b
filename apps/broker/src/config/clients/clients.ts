/** Owners and clients: checks that involve several fields, then the values the flows use. */
import { defined } from "@oauth-broker/oauth-core";
import { buildKeys, checkKeyUses } from "./key-uses.ts";
import type { ParsedClient } from "../schema/client.ts";
import { nearest, type Path, type Say } from "../problems.ts";
import type { ParsedOwner } from "../schema/configuration.ts";
import type { Tree } from "../source.ts";
import type { ClientConfig, OwnerConfig } from "../../config-types.ts";

const SHORTEST_SECRET = 32;

/**
 * Finds problems between the fields of owners and clients. Works on the tree as written, so that it
 * still reports these when another field is wrong.
 *
 * @param vendorIds every vendor that will exist
 */
export function checkClients(tree: Tree, vendorIds: ReadonlySet<string>, say: Say): void {
  const owners = entriesOf(tree["owners"]);
  const clients = entriesOf(tree["clients"]);
  const ownerIds = new Set(owners.map(({ id }) => id));
  checkDuplicates(owners, ["owners", "id"], say);
  checkDuplicates(clients, ["clients", "client_id"], say);
  const checkVendor = (path: Path, id: unknown): void => {
    if (typeof id !== "string" || vendorIds.has(id)) return;
    const near = nearest(id, vendorIds);
    const problem = `is not a known vendor${near === undefined ? "" : `: did you mean ${near}?`}`;
    say(path, problem, "the id of a vendor of the registry (docs/vendors.md lists them) or of an entry under vendors");
  };

  for (const [index, client] of clients.entries()) {
    if (client === NO_MAPPING) continue;
    const path = ["clients", index];
    checkWays(path, client, say);
    checkKeyUses(client, (field, problem, expected) => say([...path, field], problem, expected));
    const { owner, vendors } = client;
    if (typeof owner === "string" && !ownerIds.has(owner))
      say([...path, "owner"], "is not one of the owners", "the id of an entry under owners");
    if (owner !== undefined && Object.hasOwn(client, "approved_vendors")) {
      say([...path, "approved_vendors"], "belongs to the owner", "approved_vendors of the entry under owners");
    }
    if (Array.isArray(vendors)) vendors.forEach((id, at) => checkVendor([...path, "vendors", at], id));
  }
  for (const [index, { initial_access_token: tokens }] of owners.entries()) {
    if (typeof tokens !== "object" || tokens === null) continue;
    for (const id of Object.keys(tokens)) checkVendor(["owners", index, "initial_access_token", id], id);
  }
}

/** A client has exactly one way to authenticate. Keys beside a secret are for encryption. */
function checkWays(path: Path, client: Readonly<Record<string, unknown>>, say: Say): void {
  const ways = ["client_secret", "jwks", "jwks_uri"].filter((name) => Object.hasOwn(client, name));
  const encrypts = Object.hasOwn(client, "token_encrypted_response_alg");
  if (ways.length === 1 || (encrypts && ways.length === 2 && ways[0] === "client_secret")) return;
  say(
    path,
    ways.length === 0 ? "has no way to authenticate" : `has ${ways.join(" and ")}`,
    "exactly one of client_secret, jwks, jwks_uri; with token_encrypted_response_alg client_secret and one of the others",
  );
}

/** Warns about settings that are allowed but risky. */
export function clientWarnings(
  clients: readonly ParsedClient[],
  owners: readonly ParsedOwner[],
  vendorIds: ReadonlySet<string>,
): string[] {
  const warnings = clients.flatMap(({ clientId: id, clientSecret: secrets = [], browserBinding: binding }) => [
    ...(secrets.some(({ length }) => length < SHORTEST_SECRET)
      ? [
          `Client ${id} has a secret under ${SHORTEST_SECRET} characters: replace it by a random one, for example 43 characters of base64url`,
        ]
      : []),
    ...(binding === "platform"
      ? [
          `Client ${id} has browser_binding platform: the broker does not check that the browser that started a flow finishes it, so the client must`,
        ]
      : []),
  ]);
  const approved = [...clients, ...owners].flatMap((entry) => entry.approvedVendors);
  for (const id of new Set(approved)) {
    if (!vendorIds.has(id)) warnings.push(`approved_vendors names ${id}, which is not a known vendor`);
  }
  return warnings;
}

/** @param idOf the id of a vendor by any of its names */
export function buildOwner(parsed: ParsedOwner, idOf: (name: string) => string): OwnerConfig {
  return {
    id: parsed.id,
    ...defined({ name: parsed.name }),
    approvedVendors: parsed.approvedVendors.map(idOf),
    initialAccessTokens: new Map(
      Object.entries(parsed.initialAccessToken ?? {}).map(([name, token]) => [idOf(name), token]),
    ),
  };
}

/** @param idOf the id of a vendor by any of its names */
export function buildClient(
  parsed: ParsedClient,
  owners: readonly OwnerConfig[],
  idOf: (name: string) => string,
): ClientConfig {
  const owner = owners.find(({ id }) => id === parsed.owner);
  return {
    clientId: parsed.clientId,
    secretDigests: (parsed.clientSecret ?? []).map(({ digest }) => digest),
    redirectUris: parsed.redirectUris,
    browserBinding: parsed.browserBinding,
    refreshTokens: parsed.refreshTokens,
    allowOverrides: parsed.allowOverrides,
    approvedVendors: owner?.approvedVendors ?? parsed.approvedVendors.map(idOf),
    ...buildKeys(parsed),
    ...defined({
      owner: parsed.owner,
      ownerName: owner?.name,
      name: parsed.name,
      vendors: parsed.vendors?.map(idOf),
      initiateLoginUri: parsed.initiateLoginUri,
      initialAccessTokens: owner?.initialAccessTokens,
    }),
  };
}

/** Stands for an entry that is not a mapping; the schema reports that. */
const NO_MAPPING: Readonly<Record<string, unknown>> = {};

/**
 * Reads a section that is a list of mappings. Replaces other entries by empty mappings, so that
 * positions stay the same.
 */
function entriesOf(value: unknown): Readonly<Record<string, unknown>>[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  return list.map((entry) =>
    typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>) : NO_MAPPING,
  );
}

function checkDuplicates(
  entries: readonly Readonly<Record<string, unknown>>[],
  [section, key]: readonly [string, string],
  say: Say,
): void {
  const seen = new Set<unknown>();
  for (const [index, { [key]: id }] of entries.entries()) {
    if (id !== undefined && seen.has(id)) {
      say([section, index, key], "is already used by an earlier entry", "an id of its own");
    }
    seen.add(id);
  }
}
