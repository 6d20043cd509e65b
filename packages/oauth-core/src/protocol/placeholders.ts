/**
 * `{placeholder}` in a vendor's URLs: tenant, region, environment. A value fills exactly its
 * placeholder: it can never add a label, a path segment, a port or a query, nor turn one host into
 * another. Used when a vendor is resolved for a flow; the egress rules still check the result.
 */
import { OAuthError } from "./errors.ts";
import { isPublicSuffix } from "./public-suffix.ts";

/** What may fill one `{placeholder}`. */
export interface PlaceholderSpec {
  /** What the placeholder means, in words. */
  readonly description?: string;
  /** A regular expression the whole value must match, in addition to the rules of its place. */
  readonly pattern?: string;
  /** The only values allowed, if they can be listed. */
  readonly values?: readonly string[];
  /** Used when the caller gives none. */
  readonly default?: string;
  /**
   * The syntax of the value. Default by place: a label in the host, a segment in the path, any text
   * in the query.
   */
  readonly kind?: "label" | "segment" | "host";
  /** Ends with a leading dot, `.vendor.com`: a host that contains the value has one of them. */
  readonly suffix?: readonly string[];
  /** The value follows from that of another placeholder, by its value: a caller never gives it. */
  readonly follows?: { readonly placeholder: string; readonly values: Readonly<Record<string, string>> };
}

/** By the name of the placeholder. */
export type PlaceholderSpecs = Readonly<Record<string, PlaceholderSpec>>;

/** The limit for a template and of a filled URL, in characters: what egress permits of a URL. */
const MOST_TEMPLATE_CHARACTERS = 2048;

const PLACEHOLDER = /\{([A-Za-z][A-Za-z0-9_-]{0,63})\}/g;
const TEMPLATE = /^(https?:\/\/)([A-Za-z0-9._{}-]+|\[[0-9a-f:]+\])(:[0-9]+)?((?:\/[^?#]*)?)((?:\?[^#]*)?)((?:#.*)?)$/s;
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const KINDS = {
  label: new RegExp(`^${LABEL}$`),
  // The last label starts with a letter, so that no spelling of an IPv4 address passes as a name.
  host: new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)*(?=[a-z])${LABEL}$`),
  segment: /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,255}$/,
} as const;

/**
 * The names a template uses, each once, in order of appearance.
 *
 * @param specs with them, the names that a caller gives: one that follows from another is replaced
 *   by that one
 * @throws OAuthError invalid_request when braces enclose anything that is not a name, and for a
 *   template that is too long
 */
export function placeholderNames(template: string, specs: PlaceholderSpecs = {}): string[] {
  requireTemplateLength(template.length);
  if (!/[{}]/.test(template)) return [];
  if (/[{}]/.test(template.replace(PLACEHOLDER, ""))) {
    throw new OAuthError("invalid_request", "a URL template has braces that are no placeholder");
  }
  const names = Array.from(template.matchAll(PLACEHOLDER), ([, name = ""]) => name);
  return [...new Set(names.map((name) => own(specs, name)?.follows?.placeholder ?? name))];
}

/**
 * A short template may repeat a long value hundreds of times: what it becomes is bounded as well.
 *
 * @throws OAuthError invalid_request
 */
export function requireTemplateLength(characters: number): void {
  if (characters <= MOST_TEMPLATE_CHARACTERS) return;
  throw new OAuthError(
    "invalid_request",
    `a URL template has or gives more than ${MOST_TEMPLATE_CHARACTERS} characters`,
  );
}

/**
 * Refuses values that no template uses and no specification names: a misspelt name would silently
 * fall back to the default.
 *
 * @throws OAuthError invalid_request
 */
export function requireKnownPlaceholders(values: object, templates: readonly string[], specs: PlaceholderSpecs): void {
  const stated = Object.keys(specs).filter((name) => own(specs, name)?.follows === undefined);
  const known = new Set([...stated, ...templates.flatMap((template) => placeholderNames(template, specs))]);
  const unknown = Object.keys(values).find((name) => !known.has(name));
  if (unknown === undefined) return;
  // The name is repeated only if it looks like a name: anything else is the caller's text.
  const which = /^[A-Za-z0-9_-]{1,64}$/.test(unknown) ? ` ${unknown}` : "";
  throw new OAuthError("invalid_request", `placeholder${which} is not one of this vendor`);
}

/**
 * The template with every placeholder filled; a template without any comes back as it is.
 *
 * @param template http(s) URL; placeholders in host, path and query only
 * @param values by name; an empty value is an absent one
 * @throws OAuthError invalid_request naming the placeholder that is missing or does not fit, and
 *   for a template or a URL that is too long
 */
export function expandTemplate(
  template: string,
  values: Readonly<Record<string, string>>,
  specs: PlaceholderSpecs,
): string {
  if (placeholderNames(template).length === 0) return template;
  const { scheme, host, port, path, query, fragment } = splitTemplate(template);
  let { length } = template;
  const fill = (part: string, place: Place): string =>
    part.replace(PLACEHOLDER, (written, name: string) => {
      const value = fit(place, name, valueOf(name, values, specs), own(specs, name) ?? {});
      length += value.length - written.length;
      // Before the next value is added.
      requireTemplateLength(length);
      return value;
    });
  const filledHost = fill(host, "host");
  for (const name of placeholderNames(host)) requireSuffix(name, filledHost, own(specs, name)?.suffix);
  const filledPath = fill(path, "path");
  const url = scheme + filledHost + port + filledPath + fill(query, "query") + fragment;
  requireSameShape(url, filledHost, filledPath);
  return url;
}

/**
 * Whether a value could choose the registrable domain, and so who receives the request: a
 * placeholder that is the whole host, or one with nothing but a public suffix to its right.
 * Placeholders whose values are listed cannot, nor can any beside one that pins the end of the host
 * to domains of the vendor.
 */
export function fillsRegistrableDomain(template: string, specs: PlaceholderSpecs = {}): boolean {
  if (placeholderNames(template).length === 0) return false;
  const { host } = splitTemplate(template);
  if (placeholderNames(host).some((name) => isPinned(own(specs, name)))) return false;
  const labels = host.split(".");
  const rightmost = labels.findLastIndex((label) =>
    Array.from(label.matchAll(PLACEHOLDER)).some(([, name = ""]) => !isListed(own(specs, name))),
  );
  const fixed = labels.slice(rightmost + 1).join(".");
  return rightmost >= 0 && isPublicSuffix(fixed.toLowerCase());
}

/** Whether the entry itself names every value. */
export function isListed(spec: PlaceholderSpec | undefined): boolean {
  return spec?.values !== undefined || spec?.follows !== undefined;
}

/** An end below which anyone can register a name pins nothing. */
function isPinned({ suffix = [] }: PlaceholderSpec = {}): boolean {
  return suffix.length > 0 && suffix.every((end) => end.startsWith(".") && !isPublicSuffix(end.slice(1)));
}

type Place = "host" | "path" | "query";

function splitTemplate(template: string) {
  const [, scheme = "", host = "", port = "", path = "", query = "", fragment = ""] = TEMPLATE.exec(template) ?? [];
  if (host === "" || fragment.includes("{")) {
    throw new OAuthError("invalid_request", "a URL template may have placeholders in host, path and query only");
  }
  return { scheme, host, port, path, query, fragment };
}

function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function valueOf(name: string, values: Readonly<Record<string, string>>, specs: PlaceholderSpecs): string {
  const follows = own(specs, name)?.follows;
  if (follows === undefined) return givenOf(name, values, specs);
  const value = own(follows.values, givenOf(follows.placeholder, values, specs));
  if (value === undefined) throw misfit(follows.placeholder);
  return value;
}

function givenOf(name: string, values: Readonly<Record<string, string>>, specs: PlaceholderSpecs): string {
  const given = own(values, name) ?? "";
  const value = given === "" ? own(specs, name)?.default : given;
  if (value === undefined || value === "") throw new OAuthError("invalid_request", `placeholder ${name} is missing`);
  return value;
}

function fit(place: Place, name: string, value: string, spec: PlaceholderSpec): string {
  const allowed =
    (spec.values === undefined || spec.values.includes(value)) &&
    (spec.kind === undefined || KINDS[spec.kind].test(value)) &&
    (spec.pattern === undefined || matches(spec.pattern, name, value)) &&
    fitsPlace(place, value, spec);
  if (!allowed) throw misfit(name);
  return place === "query" ? encodeURIComponent(value) : value;
}

function misfit(name: string): OAuthError {
  return new OAuthError("invalid_request", `placeholder ${name} has a value that does not fit`);
}

function requireSuffix(name: string, filledHost: string, suffix: readonly string[] | undefined): void {
  //= bar#XA-2
  if (suffix === undefined || suffix.some((end) => end.startsWith(".") && filledHost.endsWith(end))) return;
  throw new OAuthError("invalid_request", `placeholder ${name} leaves the vendor's domain: ${suffix.join(" or ")}`);
}

function fitsPlace(place: Place, value: string, spec: PlaceholderSpec): boolean {
  if (place === "host") return (spec.kind === "host" || isListed(spec) ? KINDS.host : KINDS.label).test(value);
  if (place === "path") return KINDS.segment.test(value);
  return value.length <= 1024 && value.isWellFormed() && !/\p{Cc}/u.test(value);
}

function matches(pattern: string, name: string, value: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`).test(value);
  } catch (cause) {
    throw new OAuthError("server_error", `placeholder ${name} has an unusable pattern`, { cause });
  }
}

/** The final check: a URL parser must see exactly the host and path we meant to write. */
function requireSameShape(expanded: string, filledHost: string, filledPath: string): void {
  const url = URL.parse(expanded);
  const host = filledHost.toLowerCase();
  const same =
    url?.hostname === host &&
    host.length <= 253 &&
    host.split(".").every((label) => label.length <= 63) &&
    url.pathname === (filledPath === "" ? "/" : filledPath);
  if (!same) throw new OAuthError("invalid_request", "placeholders do not give a plain URL of this vendor");
}
