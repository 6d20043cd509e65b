/**
 * docs/vendors.md, from the registry: the vendors with their own files in detail, then the enabled
 * entries of the catalogue by kind, then the disabled ones with the reason. One line each.
 */
import { capabilitiesOf, type RegistryEntry } from "../../../packages/oauth-core/src/registry/entry/registry-entry.ts";
import { usualClientsOf } from "../../../packages/oauth-core/src/registry/entry/clients-of.ts";
import { fillsRegistrableDomain } from "../../../packages/oauth-core/src/protocol/placeholders.ts";
import type { SourcedFact } from "../../../packages/oauth-core/src/testing/vendor-witnesses/sources-of-facts.ts";
import { generated } from "./markdown.ts";
import { table } from "../tables.ts";

const SETUP: Readonly<Record<RegistryEntry["setup"], string>> = {
  none: "none",
  vendor_approval: "the vendor approves each organization first (`vendor_approval`)",
  environment_id: "the organization names its environment, its administrator consents once (`environment_id`)",
};

const code = (text: string): string => `\`${text}\``;

/** @param facts those of the catalogue, each with its source */
export function renderVendors(entries: readonly RegistryEntry[], facts: readonly SourcedFact[]): string {
  const firstClass = entries.filter(({ verification }) => verification.status === "first-class");
  const others = entries.filter(({ verification }) => verification.status !== "first-class");
  const on = others.filter(({ vendor }) => vendor.enabled);
  const off = others.filter(({ vendor }) => !vendor.enabled);
  return generated(
    "Vendors",
    `The registry has ${entries.length} vendors. ${firstClass.length} are first-class: each has a file of its own and a simulator. ${on.length} more of the catalogue are on, because two sources agree on their endpoints, no other address in the sources is left unexplained, and the broker supports everything they need. ${off.length} are off until an operator writes \`enabled: true\` under \`vendors.ID\`. The facts come from the sources, not from the vendors; the dates say when they were read.`,
    "On means that the two endpoints are certain enough to send a user there, and that the broker can do what the sources say the vendor needs. It does not mean that an account was connected: no vendor was asked. What the other facts of an entry rest on is [at the end](#what-the-facts-rest-on).",
    "`GET /v1/vendors/ID` of a broker shows one complete entry, with its sources, and what the operator changed. How to add one: [adding-a-vendor.md](adding-a-vendor.md).",
    "Capabilities: PKCE method (S256 is also sent to vendors without documentation about PKCE), `oidc` ID tokens are checked and handed on, `dcr` clients can register themselves, `refresh`, `revocation` at the vendor, `byoc` an app of the customer's own. `endpoints compared with metadata`: the live metadata of the MCP server has to have them too, or flows end.",
    "## First-class",
    ...firstClass.map(firstClassSection),
    "## On",
    "Each row is one vendor. Sources, endpoints and the addresses that lost: `npm run vendor -- find ID`. Verification: the status, the confidence in the endpoints and how many sources agree on both, and the date.",
    ...KINDS.flatMap(({ title, text, has }, index) => {
      const ofKind = on.filter((entry) => KINDS.findIndex((kind) => kind.has(entry)) === index && has(entry));
      return [`### ${title} (${ofKind.length})`, text, onTable(ofKind)];
    }),
    "## What has to be arranged first",
    "Before the first flow, according to the page.",
    table(
      ["vendor", "what", "page"],
      entries.flatMap(({ vendor, setupNote }) =>
        setupNote === undefined ? [] : [[vendor.name, setupNote.text, setupNote.source]],
      ),
    ),
    "## Off",
    table(
      ["vendor", "id", "why off", "verification", "setup", "capabilities", "sources"],
      off.map((entry) => [
        entry.vendor.name,
        code(entry.vendor.id),
        whyOff(entry),
        verified(entry),
        entry.setup,
        capabilities(entry),
        shortSources(entry),
      ]),
    ),
    "## What the facts rest on",
    `The entries of the catalogue state ${facts.length} facts that are no defaults; ${facts.filter(({ source }) => source === "own").length} have a source of their own: a check of that very field, or a witness (packages/oauth-core/src/testing/vendor-witnesses). The others count as recalled: the entry has sources, and none is said to state them. A test lets that number only become smaller.`,
    sourcesTable(facts),
  );
}

/** One row for each field, the most stated first. */
function sourcesTable(facts: readonly SourcedFact[]): string {
  const rows = Object.entries(Object.groupBy(facts, ({ field }) => field)).map(([field, of]) => ({
    field,
    stated: of.length,
    own: of.filter(({ source }) => source === "own").length,
  }));
  return table(
    ["field", "stated by", "with a source of its own", "share", "recalled"],
    rows
      .toSorted((a, b) => b.stated - a.stated || (a.field < b.field ? -1 : 1))
      .map(({ field, stated, own }) => [code(field), `${stated}`, `${own}`, share(own, stated), `${stated - own}`]),
  );
}

const share = (part: number, whole: number): string => `${Math.floor((100 * part) / whole)} %`;

interface Kind {
  readonly title: string;
  readonly text: string;
  readonly has: (entry: RegistryEntry) => boolean;
}

/** The first that an entry has is its kind. */
const KINDS: readonly Kind[] = [
  {
    title: "MCP servers",
    text: "Their tokens are for the vendor's MCP server.",
    has: ({ vendor }) => /-mcp(?:-|$)/.test(vendor.id),
  },
  {
    title: "Run by their customers",
    text: "A placeholder is the host of the installation: clients bring an app of their own, and each has a callback path of its own.",
    has: ({ vendor, placeholders }) =>
      [vendor.authorizationEndpoint, vendor.tokenEndpoint].some((url = "") =>
        fillsRegistrableDomain(url, placeholders),
      ),
  },
  {
    title: "With a tenant",
    text: "Placeholders name the customer's account, region or app. A value that leaves the vendor's own domains is refused.",
    has: ({ placeholders }) => Object.keys(placeholders).length > 0,
  },
  { title: "At fixed addresses", text: "Nothing has to be said but the vendor's id.", has: () => true },
];

function onTable(entries: readonly RegistryEntry[]): string {
  return table(
    ["vendor", "id", "also", "placeholders", "capabilities", "verification"],
    entries.map((entry) => [
      entry.vendor.name,
      code(entry.vendor.id),
      [...(entry.aliases ?? []).map(code), ...generation(entry)].join(", "),
      placeholders(entry),
      capabilities(entry),
      verified(entry),
    ]),
  );
}

function generation({ generationOf }: RegistryEntry): readonly string[] {
  return generationOf === undefined ? [] : [`as ${code(generationOf.id)}, for ${generationOf.apps}`];
}

/** With whose clients are good there, if a tenant may be a host. */
function placeholders({ vendor, placeholders: specs, clientsOf }: RegistryEntry): string {
  const names = Object.entries(specs).flatMap(([name, { follows }]) => (follows === undefined ? [code(name)] : []));
  const of = clientsOf ?? usualClientsOf(vendor, specs);
  return names.length === 0 ? "" : `${names.join(", ")}; clients of ${of === "vendor" ? "the vendor" : "each tenant"}`;
}

function firstClassSection(entry: RegistryEntry): string {
  const { vendor, setup, placeholders, serverUrl, verification } = entry;
  const list = (values: readonly string[]): string => (values.length === 0 ? "none" : values.map(code).join(", "));
  return [
    `### ${vendor.name} (\`${vendor.id}\`)\n`,
    `- ${vendor.enabled ? "On" : `Off: ${whyOff(entry)}`}`,
    `- Verification: ${verified(entry)}`,
    `- Setup: ${SETUP[setup]}`,
    `- Capabilities: ${capabilities(entry)}`,
    `- MCP server: ${serverUrl === undefined ? "none" : code(serverUrl)}`,
    `- Default scopes: ${list([...vendor.defaultScopes, ...vendor.offlineScopes])}`,
    `- Placeholders: ${list(Object.keys(placeholders))}`,
    `- Sources: ${verification.sources.join(" · ")}`,
  ].join("\n");
}

function capabilities(entry: RegistryEntry): string {
  const { pkce, ...others } = capabilitiesOf(entry);
  const named = Object.entries(others).flatMap(([name, has]) => (has ? [name] : []));
  const source = entry.vendor.serverUrl === undefined ? [] : ["endpoints compared with metadata"];
  return [pkce === "none" ? "no PKCE" : `PKCE ${pkce}`, ...named, ...source].join(", ");
}

const whyOff = ({ verification }: RegistryEntry): string => (verification.reasonsOff ?? []).join("; ");

function verified({ verification: { status, checkedOn, endpoints } }: RegistryEntry): string {
  const sure = endpoints === undefined ? [] : [`${endpoints.confidence} (${endpoints.agreeing})`];
  return [status, ...sure, checkedOn].join(", ");
}

/** A repository, a host, or a kind of record; each once. */
function shortSources({ verification: { sources } }: RegistryEntry): string {
  return [...new Set(sources.map(shortSource))].join(", ");
}

function shortSource(source: string): string {
  const [, repository] = /([\w-]+(?:\/[\w.-]+)?)(?:@[0-9a-f]{7}| \(npm)/.exec(source) ?? [];
  const [, host] = /https:\/\/([^/\s]+)/.exec(source) ?? [];
  const [, recording] = /(recorded discovery [A-Z])/.exec(source) ?? [];
  return repository ?? host ?? recording ?? source.replace(/^[^:]*: /, "").replace(/,? \d{6,}/g, "");
}
