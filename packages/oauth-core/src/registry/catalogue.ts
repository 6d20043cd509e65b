/**
 * The vendors known from lists of others, as data: catalogue.json, one entry a line, checked entry
 * by entry by catalogue.test.ts and only read here. An entry is on when its endpoints are certain
 * (two sources agree and none disagrees, or the sources were compared one by one: `adjudicated`),
 * no placeholder chooses the domain unless each customer runs its own installation, and `Vendor`
 * can express everything it needs; any other waits for an operator's `enabled: true`
 * (docs/decisions/0042). A vendor that deserves more gets a separate file. Listed by registry.ts.
 */
import { defined } from "../mechanics/defined.ts";
import { fillsRegistrableDomain, type PlaceholderSpec, type PlaceholderSpecs } from "../protocol/placeholders.ts";
import data from "./catalogue.json" with { type: "json" };
import type { ClientsOf } from "./entry/clients-of.ts";
import type { FieldBy } from "./fields.ts";
import type { EndpointVerification, RegistryEntry, Verification } from "./entry/registry-entry.ts";
import { defineVendor, type Vendor } from "./vendor.ts";

/** What an entry states of a vendor in the members of `Vendor`; absent: its default. */
type VendorFacts = Pick<Vendor, "id" | "name"> &
  Partial<Pick<Vendor, FieldBy<"catalogue">>> & {
    readonly authorizationEndpoint: string;
    readonly tokenEndpoint: string;
  };

/** `recalled` are members of `vendor`; what each quirk means here: catalogue-quirks.test.ts. */
export interface CatalogueEntry
  extends
    EndpointVerification,
    Pick<Verification, "checks" | "quirks" | "recalled" | "sources">,
    Pick<RegistryEntry, "aliases" | "generationOf" | "serverUrl" | "setupNote" | "sunsets"> {
  readonly vendor: VendorFacts;
  /** The meaning of each placeholder of its URLs, in words, or with what may fill it. */
  readonly placeholders?: Readonly<Record<string, string | PlaceholderSpec>>;
  /** Each customer runs its own installation, at its own host. */
  readonly selfHosted?: true;
  /** Who issues its clients, if that is not what its placeholders say, and by which source. */
  readonly clientsOf?: { readonly value: ClientsOf; readonly source: string };
  /**
   * The day its sources were compared one by one. Then `confidence` is the result, and `superseded`
   * says why the other addresses lost.
   */
  readonly adjudicated?: string;
  /** The day from which the vendor has switched its endpoints off. */
  readonly ended?: string;
  /** What is against the vendor's API. */
  readonly status?: string;
  /** What the vendor needs and no field of `Vendor` can express. */
  readonly unsupported?: readonly string[];
}

/** The day the list was compiled from its sources; no vendor was contacted. */
const COMPILED_ON = "2026-11-21";

/** As written. The test of the file guarantees this type. */
export const CATALOGUE: readonly CatalogueEntry[] = data as unknown as readonly CatalogueEntry[];

/**
 * Why an entry is off until an operator turns it on.
 *
 * @returns the end of a sentence for each reason; empty when it is on
 */
export function reasonsOff(entry: CatalogueEntry): string[] {
  const { vendor, placeholders, adjudicated, confidence, agreeing, disagreements } = entry;
  const isCertain = adjudicated !== undefined && confidence !== "low";
  const choosesDomain =
    placeholders !== undefined &&
    [vendor.authorizationEndpoint, vendor.tokenEndpoint].some((url) =>
      fillsRegistrableDomain(url, specs(placeholders, vendor)),
    );
  return [
    ...(isCertain || agreeing > 1 ? [] : ["fewer than two sources agree on its endpoints"]),
    ...(isCertain || disagreements === undefined ? [] : ["another source has other endpoints"]),
    ...(choosesDomain && !(isCertain && entry.selfHosted === true) ? ["a placeholder chooses the domain"] : []),
    ...(entry.ended === undefined ? [] : [`the vendor ended it on ${entry.ended}`]),
    ...(entry.status === undefined ? [] : [entry.status]),
    ...(entry.unsupported ?? []),
  ];
}

export function catalogueEntry(entry: CatalogueEntry): RegistryEntry {
  const { vendor, aliases, placeholders, serverUrl, sources, adjudicated, recalled, quirks } = entry;
  const { confidence, sunsets, checks, agreeing, disagreements, superseded, clientsOf } = entry;
  const { setupNote, generationOf } = entry;
  const off = reasonsOff(entry);
  const enabled = off.length === 0;
  return {
    vendor: defineVendor({ ...vendor, ...(isOfMcpServer(entry) ? defined({ serverUrl }) : {}), enabled }),
    placeholders: placeholders === undefined ? {} : specs(placeholders, vendor),
    setup: "none",
    byoc: true,
    ...defined({ aliases, serverUrl, sunsets, clientsOf: clientsOf?.value, setupNote, generationOf }),
    verification: {
      status: enabled ? "two-sources" : "listed",
      checkedOn: adjudicated ?? COMPILED_ON,
      sources,
      endpoints: { confidence, agreeing, ...defined({ disagreements, superseded }) },
      ...defined({ checks, quirks, recalled }),
      ...(enabled ? {} : { reasonsOff: off }),
    },
  };
}

/**
 * Whether it is the authorization server of its MCP server, and not of another surface beside it. A
 * server without an address has no document to ask.
 */
function isOfMcpServer({ vendor, serverUrl, quirks = [] }: CatalogueEntry): boolean {
  return (
    quirks.includes("mcp_authorization_server") && vendor.issuer !== undefined && serverUrl?.includes("{") === false
  );
}

/** A placeholder that is a whole host takes a host; any other follows the rule of its place. */
function specs(placeholders: Readonly<Record<string, string | PlaceholderSpec>>, facts: VendorFacts): PlaceholderSpecs {
  const urls = Object.values(facts).filter((value) => typeof value === "string");
  return Object.fromEntries(
    Object.entries(placeholders).map(([name, stated]): [string, PlaceholderSpec] => {
      if (typeof stated !== "string") return [name, stated];
      const isHost = urls.some((url) => url === `https://{${name}}` || url.startsWith(`https://{${name}}/`));
      return [name, { description: stated, ...(isHost ? { kind: "host" as const } : {}) }];
    }),
  );
}
