/**
 * `vendor drift`: compares the endpoints of entries with lists of vendors that others keep, which
 * the maintainer has as files, and says whose hosts moved. Sends nothing, and decides nothing: a
 * list may be the one that is old.
 */
import { existsSync, readFileSync } from "node:fs";
import { defined } from "@oauth-broker/oauth-core";
import { REGISTRY, type RegistryEntry } from "@oauth-broker/oauth-core/registry";
import { parse } from "yaml";
import type { Environment } from "../environment.ts";
import { refusal } from "../refusal.ts";

interface DriftOptions {
  readonly files: readonly string[];
  readonly json: boolean;
}

/** What a list says of one vendor. */
export interface ListedVendor {
  readonly id: string;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
}

/** An endpoint of an entry and of a list, at different hosts. */
export interface Moved {
  readonly vendor: string;
  readonly endpoint: "authorization_endpoint" | "token_endpoint";
  readonly ours: string;
  readonly theirs: string;
  /** Why the entry has another host: it knew the list's and decided against it. */
  readonly known?: string;
}

/** @returns the exit code: 1 when a host moved that no entry explains */
export function runDrift({ files, json }: DriftOptions, { print, tell }: Pick<Environment, "print" | "tell">): number {
  const compared = files.map((file) => ({ file, ...compare(readList(file), REGISTRY.values()) }));
  if (json) print(JSON.stringify({ lists: compared }, null, 2));
  for (const { file, moved, vendors } of compared) {
    const open = moved.filter(({ known }) => known === undefined);
    if (!json)
      for (const { vendor, endpoint, ours, theirs } of open)
        print(`${vendor}  ${endpoint}: ${ours} here, ${theirs} in the list`);
    const explained = moved.length - open.length;
    tell(
      `${file}: vendors that are entries: ${vendors}; hosts moved: ${open.length}; explained by the entry: ${explained}`,
    );
  }
  return compared.some(({ moved }) => moved.some(({ known }) => known === undefined)) ? 1 : 0;
}

/** @throws Refusal for a file that is missing, or of no format that is known */
export function readList(file: string): ListedVendor[] {
  if (!existsSync(file)) throw refusal(`${file}: no such file`);
  const text = readFileSync(file, "utf8");
  const listed = readText(text);
  if (listed === undefined || listed.length === 0)
    throw refusal(`${file}: neither a providers.yaml of Nango's, nor an oauth.json of grant's`);
  return listed;
}

/** YAML has JSON in it, so that one parser reads both; anchors are not followed without end. */
function readText(text: string): ListedVendor[] | undefined {
  let document: unknown;
  try {
    document = parse(text, { maxAliasCount: 1000 });
  } catch {
    return undefined;
  }
  if (!isObject(document)) return undefined;
  return Object.entries(document).flatMap(([id, row]) => (isObject(row) ? (vendorOf(id, row, document) ?? []) : []));
}

/** @param document for a row of Nango's that repeats another, under `alias` */
function vendorOf(id: string, row: Row, document: Row): ListedVendor | undefined {
  const original = typeof row["alias"] === "string" ? document[row["alias"]] : undefined;
  const known: Row = { ...(isObject(original) ? original : {}), ...row };
  const isOAuth2 = known["auth_mode"] === "OAUTH2" || known["oauth"] === 2;
  if (!isOAuth2) return undefined;
  const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  const authorizationUrl = textOf(known["authorization_url"] ?? known["authorize_url"]);
  return { id, ...defined({ authorizationUrl, tokenUrl: textOf(known["token_url"] ?? known["access_url"]) }) };
}

type Row = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Row => typeof value === "object" && value !== null;

/**
 * Vendors are the same by id, alias or, without `-` and `_`, by either. A host with a placeholder is
 * compared by what follows it.
 */
export function compare(
  listed: readonly ListedVendor[],
  entries: Iterable<RegistryEntry>,
): { readonly vendors: number; readonly moved: Moved[] } {
  const known = new Map([...entries].flatMap((entry) => namesOf(entry).map((name) => [name, entry] as const)));
  const pairs = listed.flatMap((one) => {
    const entry = known.get(plain(one.id));
    return entry === undefined ? [] : [[one, entry] as const];
  });
  return { vendors: pairs.length, moved: pairs.flatMap(([one, entry]) => movedOf(one, entry)) };
}

function namesOf({ vendor, aliases = [] }: RegistryEntry): string[] {
  return [vendor.id, ...aliases].map((name) => plain(name));
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, "");

function movedOf({ authorizationUrl, tokenUrl }: ListedVendor, { vendor, verification }: RegistryEntry): Moved[] {
  const { superseded = [], disagreements = [] } = verification.endpoints ?? {};
  const rows = [
    ["authorization_endpoint", vendor.authorizationEndpoint, authorizationUrl],
    ["token_endpoint", vendor.tokenEndpoint, tokenUrl],
  ] as const;
  return rows.flatMap(([endpoint, own, other]): Moved[] => {
    const [ours, theirs] = [hostOf(own), hostOf(other)];
    if (ours === undefined || theirs === undefined || ours === theirs) return [];
    const reason = [...superseded, ...disagreements].find((text) => text.includes(theirs));
    return [{ vendor: vendor.id, endpoint, ours, theirs, ...defined({ known: reason }) }];
  });
}

/** @returns undefined for a host that is a placeholder as a whole, which says nothing */
function hostOf(url: string | undefined): string | undefined {
  const [, host = ""] = /^https:\/\/([^/?#]+)/.exec(url ?? "") ?? [];
  const fixed = host.replace(/^.*\}/, "").replace(/^\./, "");
  return fixed === "" ? undefined : fixed.toLowerCase();
}
