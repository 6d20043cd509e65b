/** Checks each choice of a project. A check returns a sentence, or undefined. */
import { parseScope } from "@oauth-broker/oauth-core/protocol";
import { REGISTRY, type RegistryEntry, type Vendor } from "@oauth-broker/oauth-core/registry";
import { checkVendorId, problemOfThrown } from "@oauth-broker/service/configuration";
import { nearest } from "@oauth-broker/oauth-core";

export const MODES = ["hosted", "pre-registered"] as const;
export const CALLBACKS = ["platform", "server"] as const;

export type Mode = (typeof MODES)[number];
export type Callback = (typeof CALLBACKS)[number];

/** All choices of a project. */
export interface Choices {
  readonly name: string;
  readonly mode: Mode;
  /** Without effect in pre-registered mode. */
  readonly callback: Callback;
  /** In hosted mode one or several; of several the first signs users in. */
  readonly vendors: readonly [ProjectVendor, ...ProjectVendor[]];
}

export interface ProjectVendor {
  readonly id: string;
  /** The vendor's own scope tokens. */
  readonly scopes: readonly string[];
}

/** Valid for npm, for images and for host names alike. */
const NAME = /^[a-z](?:[a-z0-9-]{0,48}[a-z0-9])?$/;
/** npm refuses them. */
const NOT_NAMES = ["node-modules", "favicon-ico"];

export function checkName(name: string): string | undefined {
  if (NAME.test(name) && !NOT_NAMES.includes(name)) return undefined;
  const meant = suggestName(name);
  const hint = meant === undefined ? "" : `. Did you mean ${meant}?`;
  return `a name has lower case letters, digits and -, begins with a letter and has at most 50 characters${hint}`;
}

/** @returns a valid name as similar to it as possible */
export function suggestName(text: string): string | undefined {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 50)
    .replace(/-+$/, "");
  return NAME.test(name) && name !== text ? name : undefined;
}

export function checkWord(word: string, words: readonly string[]): string | undefined {
  if (words.includes(word)) return undefined;
  const near = nearest(word, words);
  return near === undefined ? `it is ${words.join(" or ")}` : `it is ${words.join(" or ")}. Did you mean ${near}?`;
}

/** One id, or several with commas between them. */
export function idsIn(vendor: string): readonly [string, ...string[]] {
  const [first = "", ...others] = vendor.split(",").map((id) => id.trim());
  return [first, ...others];
}

/** @param vendor one id, or several with commas between them */
export function checkVendors(vendor: string): string | undefined {
  const ids = idsIn(vendor);
  if (ids.includes("")) return "an id is empty";
  for (const [index, id] of ids.entries()) {
    const problem = checkVendor(id);
    if (problem !== undefined) return ids.length === 1 ? problem : `${id}: ${problem}`;
    const same = ids.slice(0, index).find((other) => REGISTRY.get(other) === REGISTRY.get(id));
    if (same !== undefined) return same === id ? `${id} is listed twice` : `${same} and ${id} are one vendor`;
  }
  return undefined;
}

function checkVendor(id: string): string | undefined {
  const entry = REGISTRY.get(id);
  if (entry === undefined) {
    const near = nearest(id, REGISTRY.keys());
    if (near !== undefined) return `the registry has no such vendor. Did you mean ${near}?`;
    // One that resembles none is the author's own.
    const isId = checkVendorId(id) === undefined;
    return isId
      ? undefined
      : "the registry has no such vendor, and an id of your own has lower case letters, digits and -";
  }
  if (entry.vendor.enabled) return undefined;
  return `the registry has it off: ${entry.verification.reasonsOff?.join("; ") ?? "it cannot be used yet"}`;
}

/** @param vendor one id, or several: then each scope begins with its vendor's */
export function checkScopes(scopes: string, vendor = ""): string | undefined {
  const problem = problemOfThrown(() => void parseScope(scopes))?.replace(/^scope /, "");
  if (problem !== undefined) return problem;
  if (spaced(scopes, vendor).includes(",")) return "a scope has no comma: separate scopes by spaces";
  const lost = scopeWithoutVendor(vendor, scopes);
  return lost === undefined ? undefined : `${lost} names no vendor: with several it is ID:SCOPE`;
}

/**
 * The vendor's own scopes; of several vendors `<id>:<scope>`, as clients of the server name them.
 */
export function usualScopes(vendor: string): string {
  return withIds(idsIn(vendor).map((id) => ({ id, scopes: defaultScopes(id) }))).join(" ");
}

/** @param scopes as `usualScopes`, of some of the vendors; the others have their own */
export function scopesByVendor(vendor: string, scopes: string): Choices["vendors"] {
  const [first, ...others] = idsIn(vendor);
  const asked = scopes === "" ? [] : parseScope(spaced(scopes, vendor));
  if (others.length === 0) return [{ id: first, scopes: asked }];
  const scopesOf = (id: string): ProjectVendor => {
    const own = asked.filter((scope) => scope.startsWith(`${id}:`)).map((scope) => scope.slice(id.length + 1));
    return { id, scopes: own.length === 0 ? defaultScopes(id) : own };
  };
  return [scopesOf(first), ...others.map(scopesOf)];
}

/** With spaces instead of commas, if the one vendor itself writes commas. */
function spaced(scopes: string, vendor: string): string {
  return REGISTRY.get(vendor)?.vendor.scopeSeparator === "," ? scopes.replaceAll(",", " ") : scopes;
}

/** @returns a scope that names none of several vendors */
function scopeWithoutVendor(vendor: string, scopes: string): string | undefined {
  const ids = idsIn(vendor);
  if (ids.length === 1 || scopes === "") return undefined;
  return parseScope(scopes).find((scope) => !ids.some((id) => scope.startsWith(`${id}:`) && scope !== `${id}:`));
}

function withIds(vendors: readonly ProjectVendor[]): readonly string[] {
  return vendors.flatMap(({ id, scopes }) => scopes.map((scope) => (vendors.length === 1 ? scope : `${id}:${scope}`)));
}

/**
 * The vendors to choose from: those with a separate file first, then by name.
 *
 * @param search part of an id or a name; matches at the beginning come first
 */
export function vendorChoices(search = ""): readonly Pick<Vendor, "id" | "name">[] {
  const wanted = search.trim().toLowerCase();
  const rank = ({ vendor: { id, name }, verification }: RegistryEntry): number => {
    const begins = [id, name].some((text) => text.toLowerCase().startsWith(wanted));
    return (begins ? 0 : 2) + (verification.status === "first-class" ? 0 : 1);
  };
  return [...REGISTRY.values()]
    .filter(({ vendor }) => vendor.enabled && `${vendor.id} ${vendor.name}`.toLowerCase().includes(wanted))
    .toSorted((a, b) => rank(a) - rank(b) || a.vendor.name.localeCompare(b.vendor.name))
    .map(({ vendor: { id, name } }) => ({ id, name }));
}

/** The author's own vendor identifies its users by an ID token, unless the author changes it. */
function defaultScopes(vendor: string): readonly string[] {
  return REGISTRY.has(vendor) ? (REGISTRY.get(vendor)?.vendor.defaultScopes ?? []) : ["openid"];
}
