/**
 * Which vendors a server works with: `VENDOR` alone, or with `VENDORS` several, of which `SIGN_IN`
 * identifies users. Everything that is wrong between the vendors is found here; what is wrong with
 * one of them in vendor.ts.
 */
import { checkVendorId, type Environment, splitList, valueOf } from "@oauth-broker/service/configuration";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { identitySource } from "../hosted/records/identity-source.ts";
import type { HostedVendorSettings, LinkingSettings, VendorSettings } from "../settings.ts";
import { collide, type PrefixedReader, prefixOf, readAmongSeveral, readNumber, splitPrefixed } from "./reader.ts";
import { VARIABLES } from "./variables.ts";
import { readVendor, type VendorRules } from "./vendor.ts";

const DAY_SECONDS = 86_400;

/** The vendors of a server. */
export interface Vendors {
  /** The only one, or the one that signs users in. */
  readonly vendor: VendorSettings;
  readonly linking: LinkingSettings | undefined;
}

/** @returns undefined when something about them is wrong: the reader holds the reasons */
export function readVendors(read: PrefixedReader, environment: Environment, rules: VendorRules): Vendors | undefined {
  const several = readSeveral(read);
  if (read.value("VENDORS") === undefined) {
    if (read.value("SIGN_IN") !== undefined) read.refuse("SIGN_IN", "is set without VENDORS");
    const vendor = readVendor(read, rules);
    return vendor === undefined ? undefined : { vendor, linking: undefined };
  }
  if (rules.mode === "pre-registered") {
    read.refuse("VENDORS", "is for hosted mode: in pre-registered mode the platform sends tokens of one vendor");
  }
  refuseUnprefixed(read);
  const ids = readIds(read);
  // A list that cannot be read shows nothing to be missing.
  if (ids.length < splitList(read.value("VENDORS")).length) return undefined;
  refuseUnlisted(read, environment, ids);
  const signIn = readSignIn(read, ids);
  const vendors = new Map<string, HostedVendorSettings>();
  for (const id of ids) {
    const role = id === signIn ? "sign-in" : "linked";
    const found = readAmongSeveral(read, id, environment, (own) => readVendor(own, { ...rules, mode: "hosted", role }));
    if (found?.credentials !== undefined) vendors.set(id, { ...found, credentials: found.credentials });
  }
  refuseSameClient(read, vendors);
  if (signIn === undefined) return undefined;
  const vendor = vendors.get(signIn);
  return vendor === undefined ? undefined : { vendor, linking: { ...several, vendors, signIn } };
}

function readSeveral(read: PrefixedReader): Omit<LinkingSettings, "vendors" | "signIn"> {
  return {
    elicitationWaitSeconds: readNumber(read, "ELICITATION_WAIT_SECONDS"),
    sessionMaxSeconds: readNumber(read, "SESSION_MAX_DAYS") * DAY_SECONDS,
    endLinksWithLastSession: read.flag("END_LINKS_WITH_LAST_SESSION"),
    adoptSignIn: readAdoption(read),
  };
}

/** Meant for a single start. */
function readAdoption(read: PrefixedReader): boolean {
  const isSet = read.flag("ADOPT_SIGN_IN");
  if (isSet && read.value("VENDORS") !== undefined) {
    read.warn(
      "ADOPT_SIGN_IN is set: sessions of another sign-in vendor end, and links made under it no longer count. Unset it once this server runs",
    );
  }
  return isSet;
}

function refuseUnprefixed(read: PrefixedReader): void {
  for (const { name } of VARIABLES) {
    if (read.value(name) === undefined) continue;
    if (name === "VENDOR") read.refuse(name, "is set beside VENDORS: set one of them");
    if (name.startsWith("VENDOR_")) {
      read.refuse(name, `is set beside VENDORS: each vendor has its own, ${name.replace("_", "_<ID>_")}`);
    }
  }
}

function readIds(read: PrefixedReader): string[] {
  const ids = read.list("VENDORS", checkVendorId);
  const written = (read.value("VENDORS") ?? "").split(",").map((id) => id.trim());
  if (written.every((id) => id === "")) read.refuse("VENDORS", "names no vendor");
  for (const id of ids) {
    if (written.filter((one) => one === id).length > 1) read.refuse("VENDORS", `has ${id} more than once`);
  }
  for (const [one, other] of pairs(ids)) {
    const entry = REGISTRY.get(one);
    if (entry !== undefined && entry === REGISTRY.get(other)) {
      read.refuse("VENDORS", `has ${one} and ${other}, which are one vendor of the registry`);
    }
    if (collide(one, other)) {
      read.refuse(
        "VENDORS",
        `has ${one} and ${other}, whose variables ${prefixOf(one)}… and ${prefixOf(other)}… are mixed up`,
      );
    }
  }
  return ids;
}

/** A variable of a vendor that is not listed has a misspelt id, or its vendor is forgotten. */
function refuseUnlisted(read: PrefixedReader, environment: Environment, ids: readonly string[]): void {
  const prefixes: readonly string[] = ids.map(prefixOf);
  for (const name of Object.keys(environment)) {
    const split = valueOf(environment, name) === undefined ? undefined : splitPrefixed(name);
    if (split === undefined || prefixes.includes(split.prefix)) continue;
    read.refuse(`VENDOR_${name.slice("VENDOR_".length)}`, "is of a vendor that VENDORS does not list");
  }
}

function readSignIn(read: PrefixedReader, ids: readonly string[]): string | undefined {
  const signIn = read.value("SIGN_IN");
  if (signIn === undefined) return ids[0];
  const found = ids.find((id) => id === signIn);
  if (found === undefined) read.refuse("SIGN_IN", "is not one of VENDORS");
  return found;
}

/** Two entries that are one client of one vendor would mix up two links of a user. */
function refuseSameClient(read: PrefixedReader, vendors: ReadonlyMap<string, HostedVendorSettings>): void {
  for (const [[one, vendor], [other, further]] of pairs([...vendors])) {
    const isOne = identitySource({ vendor }).issuer === identitySource({ vendor: further }).issuer;
    if (isOne && vendor.credentials.clientId === further.credentials.clientId) {
      read.refuse("VENDORS", `has ${one} and ${other} with one issuer and one client id`);
    }
  }
}

function pairs<T>(list: readonly T[]): (readonly [T, T])[] {
  return list.flatMap((one, index) => list.slice(index + 1).map((other) => [one, other] as const));
}
