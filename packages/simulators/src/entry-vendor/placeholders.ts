/**
 * A tenant of the vendor: a value for each placeholder of an entry, the URLs that follow from it,
 * and values that the entry must refuse.
 */
import type { Entry, PlaceholderFacts } from "./facts.ts";

const GUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
/** The first that fits is the tenant. A pattern that none fits needs another line here. */
const SAMPLES: readonly string[] = [
  "acme",
  "acme7",
  "acme-7",
  "1234567",
  "123",
  GUID,
  "eu1",
  "us",
  "na1",
  "eu-1",
  "us-east-1",
  "US",
  "ACME7",
  "Acme",
  "https",
  "00D000000000001",
  "v25.0",
  "amzn1.sp.solution.acme",
  "login.acme-works.com",
];

/** @returns the values a client sends; none for a placeholder that follows from another */
export function sampleValues({ facts, placeholders }: Entry): Record<string, string> {
  const given = new Set(Object.entries(placeholders).flatMap(([name, { follows }]) => (follows ? [] : [name])));
  return Object.fromEntries([...given].map((name) => [name, sampleValue(name, placeholders[name] ?? {}, facts.id)]));
}

function sampleValue(name: string, spec: PlaceholderFacts, id: string): string {
  const [listed] = spec.values ?? [];
  if (listed !== undefined) return listed;
  const [end] = spec.suffix ?? [];
  const hosts = end === undefined ? ["login.acme-works.com"] : ["acme", "acme7", "123"].map((label) => label + end);
  const candidates = [...(spec.kind === "host" ? hosts : SAMPLES), ...SAMPLES, ...(spec.default ? [spec.default] : [])];
  const value = candidates.find((candidate) => fits(candidate, spec));
  if (value === undefined) throw new Error(`${id}: no sample of placeholders.ts fits the placeholder ${name}`);
  return value;
}

function fits(value: string, { pattern, kind }: PlaceholderFacts): boolean {
  // A version or an id may have dots, if a pattern says so.
  if (kind === "host" ? !value.includes(".") : value.includes(".") && pattern === undefined) return false;
  return pattern === undefined || new RegExp(`^(?:${pattern})$`).test(value);
}

/** The first that a pattern does not fit is what it must refuse; each is right in its place. */
const UNFIT: readonly string[] = ["not-a-fit", "9", "x", "zz9", "A_b", "a.b", "a~b"];
const UNFIT_HOSTS: readonly string[] = ["zz.zz", "not", "9", "a.bcd", "a.b.c.d.e"];

/** @returns for each restriction of a placeholder, a value that only this restriction refuses */
export function misfits(entry: Entry) {
  return Object.entries(entry.placeholders).flatMap(([placeholder, spec]) => {
    const { values, pattern, kind, follows, suffix: [end = ""] = [] } = spec;
    const of = (value: string | undefined, why: string) => (value === undefined ? [] : [{ placeholder, value, why }]);
    if (follows !== undefined) return [];
    if (values !== undefined) return of("unlisted", "not one of its values");
    const unfit = kind === "host" ? UNFIT_HOSTS.map((start) => start + end) : UNFIT;
    const isUnfit = (value: string): boolean => pattern !== undefined && !new RegExp(`^(?:${pattern})$`).test(value);
    return [
      ...of(choosesHost(placeholder, entry) ? "acme.vendor-of-another.com" : undefined, "outside its domain"),
      ...of(unfit.find(isUnfit), "outside its pattern"),
    ];
  });
}

/** A value is a whole host, of which the entry pins the end. */
export function choosesHost(placeholder: string, { facts, placeholders }: Entry): boolean {
  const { suffix, kind } = placeholders[placeholder] ?? {};
  const hosts = [facts.authorizationEndpoint, facts.tokenEndpoint].map((url) => url.split("/", 3)[2]);
  return suffix !== undefined && kind === "host" && hosts.includes(`{${placeholder}}`);
}

/** If the vendor has one issuer per tenant, this is the tenant; the same as a placeholder's. */
export const TENANT = GUID;

/**
 * @param template a URL of the entry
 * @param values as `sampleValues` returned them
 */
export function fill(
  template: string,
  { facts, placeholders }: Entry,
  values: Readonly<Record<string, string>>,
  clientId: string,
): string {
  return template.replaceAll(/\{([\w-]+)\}/g, (whole, name: string) => {
    const follows = placeholders[name]?.follows;
    const value = follows === undefined ? values[name] : follows.values[values[follows.placeholder] ?? ""];
    if (value !== undefined) return value;
    if (name === "client_id") return clientId;
    return name === facts.issuerTemplate?.placeholder ? TENANT : whole;
  });
}
