/**
 * The public endpoints: metadata, vendors, health, metrics, the description of the API, and the
 * human-readable page.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { oncePerObject, searchVendors } from "@oauth-broker/oauth-core/registry";
import { authenticateByHeader, authorizationServerMetadata } from "@oauth-broker/oauth-core/authorization-server";
import { type Answer, jsonAnswer, pageAnswer } from "@oauth-broker/oauth-core/http";
import { apiRoute, faviconRoute, pageRoute, readQuery, type Route, type Trace } from "@oauth-broker/service/http";
import type { Context } from "hono";
import type { ClientConfig, VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import type { Metrics } from "../metrics.ts";
import { homePage } from "../pages/home-page.ts";
import { STYLE_HASH } from "@oauth-broker/service/page";
import { endedSunset } from "../vendor-choice/entry.ts";
import { didYouMean, nearestName, vendorNamed } from "../vendor-choice/names.ts";
import { openApiDocument } from "./openapi.ts";
import { vendorDetails, vendorList } from "./vendor-views.ts";

export interface InfoDeps extends Deps {
  readonly metrics: Metrics;
  readonly isDraining: () => boolean;
  /** The address of the sandbox page, if the sandbox runs. */
  readonly sandboxUrl: () => string | undefined;
}

export function infoRoutes(deps: InfoDeps): Route[] {
  const metadata = JSON.stringify(
    authorizationServerMetadata(deps.issuer, {
      authorization: "/v1/authorize",
      pushedAuthorizationRequest: "/v1/par",
      token: "/v1/token",
      revocation: "/v1/revoke",
    }),
  );
  let openApi: string | undefined;
  return [
    apiRoute("GET", "/.well-known/oauth-authorization-server", () => rawAnswer(metadata)),
    apiRoute("GET", "/v1/vendors", async (c, trace) => {
      const client = await optionalClient(c, deps, trace);
      return rawAnswer(listed(searchedFor(c), client, deps));
    }),
    apiRoute("GET", "/v1/vendors/:id", async (c, trace) => {
      const client = await optionalClient(c, deps, trace);
      const { vendors } = deps;
      const id = c.req.param("id") ?? "";
      const entry = vendorNamed(id, vendors);
      if (entry === undefined) {
        throw new OAuthError("not_found", `There is no such vendor${didYouMean(id, vendors)}: see /v1/vendors`);
      }
      return jsonAnswer(200, vendorDetails(asOfNow(entry, deps), client));
    }),
    apiRoute("GET", "/healthz", () => jsonAnswer(200, { status: "ok" }), { quiet: true }),
    apiRoute("GET", "/readyz", () => readiness(deps), { quiet: true }),
    apiRoute("GET", "/metrics", () => metrics(deps), { quiet: true }),
    apiRoute("GET", "/openapi.json", () => rawAnswer((openApi ??= JSON.stringify(openApiDocument(deps.issuer))))),
    faviconRoute,
    pageRoute("GET", "/", () => pageAnswer(200, homePage(deps, deps.sandboxUrl()), STYLE_HASH)),
  ];
}

const LONGEST_QUERY = 64;

/** @returns undefined for the whole list */
function searchedFor(c: Context): string | undefined {
  const query = readQuery(c).get("q");
  if (query === undefined || query.length <= LONGEST_QUERY) return query;
  throw new OAuthError("invalid_request", `q has more than ${LONGEST_QUERY} characters`);
}

/** All vendors; of a search those it finds, best first, and for a word that finds none the nearest name. */
function listed(
  query: string | undefined,
  client: ClientConfig | undefined,
  deps: Pick<Deps, "vendors" | "now">,
): string {
  const { vendors } = deps;
  const entries = query === undefined ? [...vendors.values()] : searchVendors(vendors.values(), query);
  const near = query === undefined || entries.length > 0 ? undefined : nearestName(query, vendors);
  const hint = near === undefined ? "" : `,"did_you_mean":${JSON.stringify(near)}`;
  const shown = entries.map((entry) => asOfNow(entry, deps));
  return `{"vendors":${vendorList(shown, client)}${hint}}`;
}

/** From the day on which an endpoint of it ends, an entry starts no new flow. */
function asOfNow(entry: VendorConfig, deps: Pick<Deps, "now">): VendorConfig {
  return endedSunset(entry, {}, deps) === undefined ? entry : withoutNewFlows(entry);
}

const withoutNewFlows = oncePerObject((entry: VendorConfig): VendorConfig => ({
  ...entry,
  vendor: { ...entry.vendor, acceptsNewAuthorizations: false },
}));

/** Ready: the store answers, the keys are open, and what happens can be recorded. */
async function readiness({ records, keyset, audit, isDraining }: InfoDeps): Promise<Answer> {
  if (isDraining()) throw new OAuthError("temporarily_unavailable", "This process is shutting down");
  audit.requireWritable();
  await records.ping();
  // Loads the keys at the next probe after the store is back, instead of waiting for the next
  // reload.
  if (!keyset.isLoaded()) await keyset.load();
  return jsonAnswer(200, { status: "ready" });
}

/** Credentials are optional here, but wrong credentials are an error as everywhere. */
async function optionalClient(c: Context, deps: Deps, trace: Trace): Promise<ClientConfig | undefined> {
  const authorization = c.req.header("authorization");
  if (authorization === undefined) return undefined;
  const client = await authenticateByHeader(authorization, deps);
  await deps.audit.record("client_authenticated", { ...trace, clientId: client.clientId });
  return client;
}

function rawAnswer(body: string, headers: Record<string, string> = {}): Answer {
  return { ...jsonAnswer(200, null, headers), body };
}

async function metrics({ metrics }: Pick<InfoDeps, "metrics">): Promise<Answer> {
  const { body, contentType } = await metrics.render();
  return rawAnswer(body, { "content-type": contentType });
}
