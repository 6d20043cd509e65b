/** Checks each choice of a project. A check returns a sentence, or undefined. */
import { parseScope } from "@oauth-broker/oauth-core/protocol";
import { REGISTRY, type RegistryEntry } from "@oauth-broker/oauth-core/registry";
import { nearest, problemOfThrown } from "@oauth-broker/oauth-core/configuration";

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
  readonly vendor: string;
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

export function checkMode(mode: string): string | undefined {
  return checkWord(mode, MODES);
}

export function checkCallback(callback: string): string | undefined {
  return checkWord(callback, CALLBACKS);
}

function checkWord(word: string, words: readonly string[]): string | undefined {
  if (words.includes(word)) return undefined;
  const near = nearest(word, words);
  return near === undefined ? `it is ${words.join(" or ")}` : `it is ${words.join(" or ")}. Did you mean ${near}?`;
}

export function checkVendor(id: string): string | undefined {
  const entry = REGISTRY.get(id);
  if (entry === undefined) {
    const near = nearest(id, REGISTRY.keys());
    return `the registry has no such vendor${near === undefined ? "" : `. Did you mean ${near}?`}`;
  }
  if (entry.vendor.enabled) return undefined;
  return `the registry has it off: ${entry.verification.reasonsOff?.join("; ") ?? "it cannot be used yet"}`;
}

export function checkScopes(scopes: string): string | undefined {
  return problemOfThrown(() => void parseScope(scopes))?.replace(/^scope /, "");
}

export interface VendorChoice {
  readonly id: string;
  readonly name: string;
}

/**
 * The vendors to choose from: those with a file of their own first, then by name.
 *
 * @param search part of an id or a name; matches at the beginning come first
 */
export function vendorChoices(search = ""): readonly VendorChoice[] {
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

export function defaultScopes(vendor: string): readonly string[] {
  return REGISTRY.get(vendor)?.vendor.defaultScopes ?? [];
}
