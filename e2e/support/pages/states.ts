/**
 * Every page of the broker, of a deployed server and of the platform, in every state that looks different: what
 * scenarios/pages/accessibility.test.ts shows a browser. A new page that is missing here fails there.
 */
import { PassThrough } from "node:stream";
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Answer } from "@oauth-broker/oauth-core/http";
import { verifyRedirectUri } from "@oauth-broker/oauth-core/authorization-server";
import { errorPageWith } from "@oauth-broker/service/http";
import { ownerPage } from "../../../apps/broker/src/pages/owner-page.ts";
import { homePage } from "../../../apps/broker/src/pages/home-page.ts";
import { testClient, testVendor } from "../../../apps/broker/src/testing/test-broker.ts";
import { pagesOf } from "../../../packages/mcp-auth/src/app.ts";
import { loadSettings } from "../../../packages/mcp-auth/src/config.ts";
import { consentPage } from "../../../packages/mcp-auth/src/hosted/server-callback/consent-page.ts";
import * as links from "../../../packages/mcp-auth/src/hosted/pages/markup.ts";
import { challengePage, homeRoute } from "../../../packages/mcp-auth/src/mcp/browser-pages.ts";
import { createPresentation, type Presentation } from "../../../packages/mcp-auth/src/presentation/presentation.ts";
import { PRE_REGISTERED, SERVER, SEVERAL } from "../../../packages/mcp-auth/src/testing/environments.ts";
import { ENGLISH_ERRORS } from "../../../packages/service/src/http/error-texts.ts";
import { PREFETCHED } from "../../../packages/service/src/http/http-layer.ts";
import { statesOfPlatform } from "./platform-states.ts";
import { refuseTarget, refuseUnreadable } from "../../../packages/service/src/listener/refusals.ts";

export type Language = "en" | "de";

/** One page as a browser gets it. */
export interface PageState {
  readonly name: string;
  /** The function that made it. */
  readonly by: string;
  readonly language: Language;
  readonly html: string;
}

const LONG = "a-very-long-name-without-a-space-that-has-to-break-somewhere-in-the-line";
const SCOPES = ["read", "notes:write", `https://vendor.example/auth/${LONG}`];
const HOST = "server.example";

type Row = readonly [by: string, name: string, page: Answer | string];

/** @returns in both languages what has both, in English what has no other */
export async function pageStates(): Promise<readonly PageState[]> {
  const shown = (language: Language) => {
    return ([by, name, page]: Row): PageState => {
      return { name: `${by}: ${name}`, by, language, html: String(typeof page === "string" ? page : page.body) };
    };
  };
  const english = [...(await statesOfServer("en")), ...(await statesOfBroker()), ...statesOfPlatform()];
  return [...english.map(shown("en")), ...(await statesOfServer("de")).map(shown("de"))];
}

async function statesOfServer(language: Language): Promise<readonly Row[]> {
  const meanings = new Map([["vendor", new Map([["read", { sentence: "Read your notes", language: "en" }]])]]);
  const url = "https://operator.example/";
  const operator = { name: "Acme & Sons", website: url, privacy: url, terms: url, language };
  const presentation = createPresentation(operator, { name: "Notes" }, meanings);
  const { prefetched, errorPage } = pagesOf(presentation);
  const challenge = { status: 401, headers: {}, body: "" };
  return [
    ...consentStates(presentation),
    ...linkStates(presentation),
    ...(await Promise.all(
      Object.entries({ SERVER, SEVERAL, PRE_REGISTERED }).map(async ([name, environment]): Promise<Row> => {
        const home = homeRoute({ name: "Notes" }, loadSettings(environment), presentation);
        return ["homeRoute", name, (await home.handle({} as never, {})) as Answer];
      }),
    )),
    ["challengePage", "401 of /mcp", challengePage(challenge, { name: "Notes" }, loadSettings(SERVER), presentation)],
    ["pagesOf", "prefetched", prefetched as Answer],
    ...(await errorStates("errorPage", errorPage)),
  ];
}

function consentStates(presentation: Presentation): Row[] {
  const client = {
    clientId: "https://app.example/client",
    clientName: `App ${LONG}`,
    knownBy: "registration",
    redirectUris: [],
  } as const;
  const shown = (uri: string) => ({
    presentation,
    client,
    redirect: verifyRedirectUri(uri, [uri]),
    serverHost: HOST,
    vendor: "vendor",
    vendorName: "Vendor",
    scope: SCOPES,
    fields: [["client_id", "x"]] as const,
    csrf: "c",
  });
  const web = shown(`https://app.example/${LONG}`);
  const local = shown("http://127.0.0.1:8123/callback");
  const at = (vendor: string, signsIn: boolean, scope = SCOPES) => ({ vendor, vendorName: vendor, scope, signsIn });
  const pages: Readonly<Record<string, Parameters<typeof consentPage>[0]>> = {
    "a client that registered itself": web,
    "a program on this computer": local,
    "a client of the operator, without scopes": { ...web, client: { ...client, knownBy: "configuration" }, scope: [] },
    "a client with a metadata document": { ...local, client: { ...client, knownBy: "metadata_document" } },
    "several vendors": { ...web, permissions: [at("vendor", true), at("Chat", false), at("Mail", false, [])] },
    "one of several vendors": { ...web, permissions: [at("vendor", true, [])] },
  };
  return Object.entries(pages).map(([name, page]) => ["consentPage", name, consentPage(page, {})]);
}

function linkStates(presentation: Presentation): Row[] {
  const visitor = { label: "ada@example.com", signInName: "Vendor", signOutCsrf: "c", serverHost: HOST, presentation };
  const client = { clientId: "app", clientName: "App", knownBy: "registration", redirectUris: [] } as const;
  const ticket = { visitor, ticket: "t", client, vendorName: "Chat", vendor: "vendor", csrf: "c" };
  const connection = (state: links.ShownConnection["state"], more: Partial<links.ShownConnection> = {}) => ({
    vendor: state,
    name: `Vendor ${state}`,
    state,
    account: state === "missing" ? undefined : "ada@example.com",
    scopes: state === "missing" ? [] : SCOPES,
    since: state === "missing" ? undefined : "2026-11-27",
    csrf: "c",
    pending: undefined,
    until: undefined,
    ...more,
  });
  const pending = (isOther: boolean) => ({ isOther, account: isOther ? "bob" : "ada", scopes: [], csrf: "c" });
  const none = { visitor, connections: [], linked: undefined, disconnected: undefined, error: "" };
  const all = (["usable", "dead", "missing", "unreadable"] as const).map((state) => connection(state));
  const list = (name: string, more: Partial<links.ConnectionsPage>): Row => {
    return ["connectionsPage", name, links.connectionsPage({ ...none, connections: all, ...more })];
  };
  const disconnected = (atVendor: links.Disconnected["atVendor"]) =>
    list(`disconnected: ${atVendor}`, { disconnected: { name: "Chat", atVendor, help: "Open the settings" } });
  const signIn = { presentation, signInName: "Vendor", serverHost: HOST, csrf: "c" };
  return [
    ["connectPage", "first", links.connectPage({ ...ticket, scope: [], linked: undefined })],
    ["connectPage", "with scopes, connected now", links.connectPage({ ...ticket, scope: SCOPES, linked: "ada" })],
    ["foreignPage", "another account's", links.foreignPage(visitor, "t")],
    ["gonePage", "used or expired", links.gonePage(visitor)],
    ["signInPage", "before the vendor", links.signInPage({ ...signIn, isSignedOut: false }, {})],
    ["signInPage", "after signing out", links.signInPage({ ...signIn, isSignedOut: true }, {})],
    list("none", { connections: [] }),
    list("one", { connections: [connection("usable")], linked: "Chat" }),
    list("of every state", {}),
    list("with an end", { connections: [connection("usable", { until: "2027-01-01" })] }),
    list("another account waits for a yes", { connections: [connection("usable", { pending: pending(true) })] }),
    list("fewer scopes wait for a yes", { connections: [connection("usable", { pending: pending(false) })] }),
    ...Object.keys(presentation.texts.connections.atVendor).map((kind) =>
      disconnected(kind as links.Disconnected["atVendor"]),
    ),
    ...Object.keys(presentation.texts.connections.errors).map((error) => list(`error ${error}`, { error })),
  ];
}

async function statesOfBroker(): Promise<readonly Row[]> {
  const vendors = (...entries: ReturnType<typeof testVendor>[]) => ({
    vendors: new Map(entries.map((entry) => [entry.vendor.id, entry])),
    issuer: "https://broker.example",
  });
  const owned = { ...testClient("platform"), name: "Platform", ownerName: "Acme" };
  const flow = { redirectUri: "https://platform.example/cb", scope: SCOPES };
  const vendor = { name: "Vendor", scopeMeanings: { read: "Read your notes" } };
  const shown = { client: owned, vendor, flow, requestUri: "u", csrf: "c", flowId: "f" };
  const unowned = { client: testClient("platform"), flow: { ...flow, scope: [] } };
  const catalogued = { ...testVendor(), credentials: [], verification: { status: "two-sources" } as never };
  const wayBack = async () => ({ href: "https://app.example/", label: "Back to the application" });
  return [
    ["ownerPage", "with an organization", ownerPage(shown, {})],
    ["ownerPage", "without one", ownerPage({ ...shown, ...unowned }, {})],
    ["homePage", "without a vendor", homePage(vendors(), undefined)],
    ["homePage", "in the sandbox", homePage(vendors(testVendor()), "https://broker.example/sandbox")],
    ["homePage", "with a catalogue", homePage(vendors(catalogued), undefined)],
    ...(await errorStates("errorPageWith", errorPageWith(wayBack))),
    ["refuseTarget", "no plain path", await refusedTarget()],
    ["TOO_LONG", "too many cookies", await refusedHeader()],
    ["PREFETCHED", "not opened by its user", PREFETCHED],
  ];
}

/** Every title, and every reason that has its own words. */
async function errorStates(by: string, errorPage: ReturnType<typeof pagesOf>["errorPage"]): Promise<readonly Row[]> {
  const { titles, titlesByReason, insteadOfStartingAgain } = ENGLISH_ERRORS;
  const statuses = [400, ...Object.keys(titles).map(Number)].map((status) => [String(status), { status }] as const);
  const reasons = [...Object.keys({ ...titlesByReason, ...insteadOfStartingAgain }), "issuer_mismatch"].map(
    (reason) => [reason, { reason }] as const,
  );
  const back = { title: "This could not be done", back: { href: "/connections", label: "Your connections" } };
  const of = async (name: string, options: object, route = {}): Promise<Row> => {
    const error = new OAuthError("invalid_request", `Something is wrong with ${LONG}`, options);
    return [by, name, await errorPage(error, { flowId: "flow-id", referenceId: "reference" }, route)];
  };
  return Promise.all([
    ...[...statuses, ...reasons].map(([name, options]) => of(name, options)),
    of("of the connections", {}, { refused: back }),
  ]);
}

async function refusedTarget(): Promise<string> {
  return new Promise((resolve) => {
    const response = { once: () => response, writeHead: () => response, end: resolve };
    refuseTarget({ headers: { accept: "text/html" }, socket: {} } as never, response as never);
  });
}

async function refusedHeader(): Promise<string> {
  const socket = new PassThrough();
  refuseUnreadable(Object.assign(new Error("too long"), { code: "HPE_HEADER_OVERFLOW" }), socket);
  const [answer = ""] = await socket.setEncoding("utf8").take(1).toArray();
  socket.destroy();
  return String(answer).split("\r\n\r\n")[1] ?? "";
}
