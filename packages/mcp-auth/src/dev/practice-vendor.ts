/**
 * The vendors of a server under development: each a practice copy on loopback, so that no account
 * or app there is needed; the real one when its client id is set. Provides the environment
 * variables for either.
 */
import { FIELDS, REGISTRY, URL_VARIABLE_FIELDS, wireName } from "@oauth-broker/oauth-core/registry";
import type { SandboxVendor } from "@oauth-broker/simulators";
import { nearest } from "@oauth-broker/oauth-core";
import { splitList } from "@oauth-broker/service/configuration";
import type { Environment } from "../config.ts";
import { environmentOf, prefixOf } from "../config/reader.ts";
import { VENDOR_FIELD_VARIABLES } from "../config/variables/vendor-fields.ts";

export interface App {
  readonly VENDOR_CLIENT_ID: string;
  readonly VENDOR_CLIENT_SECRET: string;
}

export interface PracticeVendor {
  /** For the user: `a practice copy of …`. */
  readonly about: string;
  /** Applied over service.yaml's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * The copy's app, also when the server does not restrict tokens to it; absent for the real
   * vendor.
   */
  readonly app: App | undefined;
  close(): Promise<void>;
}

/** The real vendor's own, which a provider in its place does not have; the author's API may be here too. */
const OF_THE_REAL_ONE = Object.fromEntries(
  VENDOR_FIELD_VARIABLES.flatMap(({ name }) => (name === "VENDOR_API_HOSTS" ? [] : [[name, ""]])),
);

/**
 * Simulators describe themselves as fields of an entry in a broker's configuration; these are the
 * variables for them.
 */
const VARIABLES: Readonly<Record<string, string>> = Object.fromEntries(
  URL_VARIABLE_FIELDS.map((field) => [wireName(field), FIELDS[field].variable.name]),
);

export interface PracticeOptions {
  /** The registration of the copy's app. */
  readonly redirectUri: string;
  /** Where a user of the copy starts, for the way back from its pages. */
  readonly homeUrl: string;
  /** The URL of the server; default `homeUrl`. */
  readonly serverUrl?: string;
  /** The server's name, for consent pages. */
  readonly name: string;
}

/**
 * The vendor, or with `VENDORS` each of them.
 *
 * @param given service.yaml's environment under the process's own
 * @param options.redirectUri of the vendor that signs users in
 * @throws Error saying what to install or to set
 */
export async function startPracticeVendors(given: Environment, options: PracticeOptions): Promise<PracticeVendor> {
  const ids = splitList(given["VENDORS"]);
  if (ids.length === 0) return startPracticeVendor(given, options);
  const signIn = given["SIGN_IN"] ?? ids[0];
  const started: PracticeVendor[] = [];
  const close = async (): Promise<void> => void (await Promise.all(started.map((vendor) => vendor.close())));
  try {
    for (const id of ids) {
      const redirectUri =
        id === signIn ? options.redirectUri : `${options.serverUrl ?? options.homeUrl}/vendors/${id}/callback`;
      // One after another: the simulators of a failed one would be left running.
      // oxlint-disable-next-line no-await-in-loop
      started.push(await startOneOfSeveral(id, given, { ...options, redirectUri }));
    }
  } catch (error) {
    await close();
    throw error;
  }
  const signInApp = started[ids.findIndex((id) => id === signIn)]?.app;
  // The next copy is at another port, and no session of this one is worth anything there.
  const adoption = signInApp === undefined ? {} : { ADOPT_SIGN_IN: "true" };
  return {
    about: started.map(({ about }, index) => (ids[index] === signIn ? `${about} (signs users in)` : about)).join(", "),
    environment: Object.assign(adoption, ...started.map(({ environment }) => environment)) as Record<string, string>,
    app: undefined,
    close,
  };
}

/** Its variables are those of an only vendor, with its prefix. */
async function startOneOfSeveral(id: string, given: Environment, options: PracticeOptions): Promise<PracticeVendor> {
  const prefix = prefixOf(id);
  const vendor = await startPracticeVendor(environmentOf(id, given), options);
  const { VENDOR: standIn, ...rest } = vendor.environment;
  if (standIn !== undefined && REGISTRY.has(id)) {
    await vendor.close();
    // A provider with its own id could take its place, and the tools name this one.
    throw new Error(
      `There is no practice copy of ${id}: set ${prefix}CLIENT_ID and ${prefix}CLIENT_SECRET to work with ${id} itself`,
    );
  }
  const prefixed = Object.entries(rest).map(([name, value]) => [
    name.startsWith("VENDOR_") ? `${prefix}${name.slice("VENDOR_".length)}` : name,
    value,
  ]);
  const about = vendor.about.replaceAll(/\bVENDOR_(?=CLIENT_)/g, prefix);
  return { ...vendor, about, environment: Object.fromEntries(prefixed) as Record<string, string> };
}

async function startPracticeVendor(given: Environment, options: PracticeOptions): Promise<PracticeVendor> {
  const id = given["VENDOR"] ?? "";
  if (id === "") throw new Error("There is no vendor: set VENDOR, or VENDORS, in the environment of service.yaml");
  if ((given["VENDOR_CLIENT_ID"] ?? "") !== "") {
    const about = `${id} itself, as VENDOR_CLIENT_ID is set`;
    return { about, environment: {}, app: undefined, close: async () => undefined };
  }
  const { startSandboxVendor } = await loadSimulators();
  const { redirectUri, homeUrl, name } = options;
  const vendor = await startSandboxVendor(id, { redirectUri, homeUrl, appName: name });
  const isStandIn = vendor.offer.id !== id;
  const { client_id = "", client_secret = "" } = vendor.entry["credentials"] as Readonly<Record<string, string>>;
  const meant = REGISTRY.has(id) ? undefined : nearest(id, REGISTRY.keys());
  const noCopy = `there is no practice copy of ${id}${meant === undefined ? "" : ` (did you mean ${meant}?)`}`;
  const app = { VENDOR_CLIENT_ID: client_id, VENDOR_CLIENT_SECRET: client_secret };
  const places = placesOf(vendor, { given, isStandIn });
  // In pre-registered mode tokens are restricted to the client, which the vendor must be able to
  // report. The metadata of a stand-in says what it can report.
  const isHeldTo = given["OAUTH_MODE"] !== "pre-registered" || isStandIn || "VENDOR_INTROSPECTION_URL" in places;
  return {
    about: isStandIn
      ? `a practice OpenID provider, as ${noCopy}: set VENDOR_CLIENT_ID and VENDOR_CLIENT_SECRET to work with ${id} itself`
      : `a practice copy of ${vendor.offer.name}`,
    environment: { ...places, ...(isHeldTo ? app : {}) },
    app,
    close: vendor.close,
  };
}

function placesOf(
  { entry, offer }: SandboxVendor,
  { given, isStandIn }: { readonly given: Environment; readonly isStandIn: boolean },
): Record<string, string> {
  const places = Object.entries(VARIABLES).flatMap(([field, name]): [string, string][] => {
    const value = entry[field];
    return typeof value === "string" ? [[name, value]] : [];
  });
  const placeholders = Object.fromEntries((offer.placeholders ?? []).map(({ name, value }) => [name, value]));
  return {
    EGRESS_ALLOW_LOOPBACK: "true",
    ...(isStandIn ? OF_THE_REAL_ONE : {}),
    ...Object.fromEntries(places),
    ...(isStandIn
      ? { VENDOR: offer.id, VENDOR_SCOPES: offer.request.scope, VENDOR_PLACEHOLDERS: "" }
      : { VENDOR_PLACEHOLDERS: given["VENDOR_PLACEHOLDERS"] ?? JSON.stringify(placeholders) }),
  };
}

async function loadSimulators(): Promise<typeof import("@oauth-broker/simulators")> {
  try {
    return await import("@oauth-broker/simulators");
  } catch (cause) {
    throw new Error(
      "@oauth-broker/simulators is not installed: add it to devDependencies, or set VENDOR_CLIENT_ID to work with the vendor itself",
      { cause },
    );
  }
}
