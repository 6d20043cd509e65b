/**
 * Every page of the broker, of a deployed server and of the platform, in every state that looks different: what
 * scenarios/pages/accessibility.test.ts shows a browser. A new page that is missing here fails there.
 */
import { PassThrough } from "node:stream";
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Answer } from "@oauth-broker/oauth-core/http";
import { verifyRedirectUri } from "@oauth-broker/oauth-core/server";
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

/** @returns in both languages what has both, in English what has no other */
export async function pageStates(): Promise<readonly PageState[]> {
  const both = await Promise.all((["en", "de"] as const).map(statesOfServer));
  return [...both.flat(), ...(await statesOfBroker())];
}

async function statesOfServer(language: Language): Promise<readonly PageState[]> {
  const meanings = new Map([["vendor", new Map([["read", { sentence: "Read your notes", language: "en" }]])]]);
  const url = "https://operator.example/";
  const operator = { name: "Acme & Sons", website: url, privacy: url, terms: url, language };
  const presentation = createPresentation(operator, { name: "Notes" }, meanings);
  const state = (by: string, name: string, answer: Answer): PageState => {
    return { name: `${by}: ${name}`, by, language, html: String(answer.body) };
  };
  return [
    ...consentStates(presentation).map(([name, answer]) => state("consentPage", name, answer)),
    ...linkStates(presentation).map(([by, name, answer]) => state(by, name, answer)),
    ...(await Promise.all(
      Object.entries({ SERVER, SEVERAL, PRE_REGISTERED }).map(async ([name, environment]) => {
        const home = homeRoute({ name: "Notes" }, loadSettings(environment), presentation);
        return state("homeRoute", name, (await home.handle({} as never, {})) as Answer);
      }),
    )),
    state(
      "challengePage",
      "401 of /mcp",
      challengePage({ status: 401, headers: {}, body: "" }, { name: "Notes" }, loadSettings(SERVER), presentation),
    ),
    state("pagesOf", "prefetched", pagesOf(presentation).prefetched as Answer),
    ...(await errorStates(pagesOf(presentation).errorPage)).map(([name, answer]) => state("errorPage", name, answer)),
  ];
}

function consentStates(presentation: Presentation): [name: string, answer: Answer][] {
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
  const page = (of: Parameters<typeof consentPage>[0]) => consentPage(of, {});
  return [
    ["a client that registered itself", page(web)],
    ["a program on this computer", page(local)],
    [
      "a client of the operator, without scopes",
      page({ ...web, client: { ...client, knownBy: "configuration" }, scope: [] }),
    ],
    ["a client with a metadata document", page({ ...local, client: { ...client, knownBy: "metadata_document" } })],
    ["several vendors", page({ ...web, permissions: [at("vendor", true), at("Chat", false), at("Mail", false, [])] })],
    ["one of several vendors", page({ ...web, permissions: [at("vendor", true, [])] })],
  ];
}

function linkStates(presentation: Presentation): [by: string, name: string, answer: Answer][] {
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
  const list = (name: string, more: Partial<links.ConnectionsPage>): [string, string, Answer] => {
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

async function statesOfBroker(): Promise<readonly PageState[]> {
  const state = (by: string, name: string, html: unknown): PageState => {
    return { name: `${by}: ${name}`, by, language: "en", html: String(html) };
  };
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
    state("ownerPage", "with an organization", ownerPage(shown, {}).body),
    state("ownerPage", "without one", ownerPage({ ...shown, ...unowned }, {}).body),
    state("homePage", "without a vendor", homePage(vendors(), undefined)),
    state("homePage", "in the sandbox", homePage(vendors(testVendor()), "https://broker.example/sandbox")),
    state("homePage", "with a catalogue", homePage(vendors(catalogued), undefined)),
    ...(await errorStates(errorPageWith(wayBack))).map(([name, { body }]) =>
      state("errorPageWith", `broker, ${name}`, body),
    ),
    ...statesOfPlatform().map(([by, name, html]) => state(by, name, html)),
    state("refuseTarget", "no plain path", await refusedTarget()),
    state("TOO_LONG", "too many cookies", await refusedHeader()),
    state("PREFETCHED", "not opened by its user", PREFETCHED.body),
  ];
}

/** Every title, and every reason that has its own words. */
async function errorStates(
  errorPage: ReturnType<typeof pagesOf>["errorPage"],
): Promise<readonly (readonly [name: string, answer: Answer])[]> {
  const { titles, titlesByReason, insteadOfStartingAgain } = ENGLISH_ERRORS;
  const statuses = [400, ...Object.keys(titles).map(Number)].map((status) => [String(status), { status }] as const);
  const reasons = [...Object.keys({ ...titlesByReason, ...insteadOfStartingAgain }), "issuer_mismatch"].map(
    (reason) => [reason, { reason }] as const,
  );
  const back = { title: "This could not be done", back: { href: "/connections", label: "Your connections" } };
  const of = async (options: object, route = {}): Promise<Answer> =>
    errorPage(
      new OAuthError("invalid_request", `Something is wrong with ${LONG}`, options),
      { flowId: "flow-id", referenceId: "reference" },
      route,
    );
  return Promise.all([
    ...[...statuses, ...reasons].map(async ([name, options]) => [name, await of(options)] as const),
    of({}, { refused: back }).then((answer) => ["of the connections", answer] as const),
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
