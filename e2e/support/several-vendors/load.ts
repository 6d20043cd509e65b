/**
 * Many users at two processes of one server with three vendors, on one table: a load balancer sends
 * every request, of clients and browsers alike, to one process after the other. The vendors'
 * account endpoints name the user of the token they were sent.
 */
import { type FakeVendorServer, fakeCode, startFakeVendor } from "@oauth-broker/simulators";
import { request } from "undici";
import { type AwsHarness, startAws } from "../aws/aws.ts";
import { freePort } from "../free-port.ts";
import { challengeOf } from "../broker/platform.ts";
import { SEVERAL_VENDORS_BUNDLE } from "../paths.ts";
import { type ServiceProcess, startService } from "../service-process.ts";
import { type RawCall, type Send, sendCall } from "./raw.ts";
import { openTextBrowser, type TextBrowser } from "./browser.ts";

/** The first signs users in. */
export const LOAD_VENDORS = ["one", "two", "three"] as const;

export interface LoadUser {
  readonly name: string;
  readonly browser: TextBrowser;
  /** One request of the client. */
  call(tool: string, params?: object): Promise<RawCall>;
}

export interface Load {
  readonly aws: AwsHarness;
  readonly vendors: Readonly<Record<(typeof LOAD_VENDORS)[number], FakeVendorServer>>;
  /** Signs in at the MCP server. */
  connect(name: string): Promise<LoadUser>;
  /** Everything that clients and browsers received. */
  received(): string;
  restart(): Promise<void>;
  close(): Promise<void>;
}

const CALLBACK = "http://127.0.0.1/oauth/callback";
const VERIFIER = "v".repeat(43);

/** @param lifetimeSeconds of the vendors' tokens, so that they are refreshed among the calls */
export async function startLoad(lifetimeSeconds: number): Promise<Load> {
  const aws = await startAws();
  const [one, two, three] = await Promise.all(
    [1, 2, 3].map(() => startFakeVendor({ codes: "named", lifetimeSeconds, refreshMs: 10 })),
  );
  if (one === undefined || two === undefined || three === undefined) throw new Error("a vendor did not start");
  const vendors = { one, two, three };
  const ports = [String(await freePort()), String(await freePort())];
  const url = `http://127.0.0.1:${ports[0]}`;
  const env = {
    ...aws.tableEnv,
    OAUTH_MODE: "hosted",
    DEPLOYMENT_URL: url,
    VENDORS: LOAD_VENDORS.join(","),
    ...Object.assign({}, ...LOAD_VENDORS.map((id) => variablesOf(id, vendors[id].url))),
    OAUTH_CLIENTS: JSON.stringify([{ client_id: "desk", client_name: "Desk", redirect_uris: [CALLBACK] }]),
    EGRESS_ALLOW_LOOPBACK: "true",
    LIMITS_REQUESTS_PER_MINUTE: "0",
    ELICITATION_WAIT_SECONDS: "0",
  };
  const start = (): Promise<ServiceProcess[]> =>
    Promise.all(
      ports.map((PORT) => startService({ name: "MCP server", file: SEVERAL_VENDORS_BUNDLE, env: { ...env, PORT } })),
    );
  let servers = await start();
  let requests = 0;
  const texts: string[] = [];
  const send = async (href: string, { method = "GET", headers, body }: RequestInit): Promise<Response> => {
    requests += 1;
    const { pathname, search, host } = new URL(href);
    const form = body instanceof URLSearchParams ? { "content-type": "application/x-www-form-urlencoded" } : {};
    // The global fetch cannot set the Host.
    const answer = await request(`http://127.0.0.1:${ports[requests % 2]}${pathname}${search}`, {
      method: method as "GET" | "POST",
      headers: { ...form, ...(headers as Record<string, string>), host },
      body: body instanceof URLSearchParams ? body.toString() : typeof body === "string" ? body : null,
    });
    const text = await answer.body.text();
    const kept = Object.entries(answer.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    texts.push(`${text}\n${JSON.stringify(kept)}`);
    return new Response(text, { status: answer.statusCode, headers: kept });
  };

  return {
    aws,
    vendors,
    received: () => texts.join("\n"),
    connect: async (name) => {
      const site = { url, seen: [], keep: async (_: string, __: string, answer: Response) => answer };
      const browser = openTextBrowser(site, name, { send, consent: async (at) => approvedBy(name, new URL(at)) });
      const accessToken = await signIn(browser, url, send);
      return { name, browser, call: async (tool, params = {}) => sendCall(tool, params, { accessToken, url, send }) };
    },
    restart: async () => {
      await Promise.all(servers.map((server) => server.stop()));
      servers = await start();
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.stop()));
      await Promise.all([...Object.values(vendors).map((vendor) => vendor.close()), aws.close()]);
    },
  };
}

function variablesOf(id: string, vendorUrl: string): Readonly<Record<string, string>> {
  const name = `VENDOR_${id.toUpperCase()}`;
  return {
    [`${name}_AUTHORIZATION_URL`]: `${vendorUrl}/authorize`,
    [`${name}_TOKEN_URL`]: `${vendorUrl}/token`,
    [`${name}_USERINFO_URL`]: `${vendorUrl}/account`,
    [`${name}_CLIENT_ID`]: "our-client",
    [`${name}_CLIENT_SECRET`]: "our-secret-at-the-vendor",
    [`${name}_SCOPES`]: "read",
  };
}

/** A vendor without pages: it sends the browser back at once. */
function approvedBy(user: string, at: URL): URL {
  const back = new URL(at.searchParams.get("redirect_uri") ?? "");
  back.search = new URLSearchParams({ code: fakeCode(user), state: at.searchParams.get("state") ?? "" }).toString();
  return back;
}

async function signIn(browser: TextBrowser, url: string, send: Send): Promise<string> {
  const asked = new URLSearchParams({
    response_type: "code",
    client_id: "desk",
    redirect_uri: CALLBACK,
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: "S256",
  });
  const stopAt = ({ href }: URL): boolean => href.startsWith(CALLBACK);
  const back = await browser.press(await browser.open(`/authorize?${asked.toString()}`), "approve", { stopAt });
  const answer = await send(`${url}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: "desk",
      redirect_uri: CALLBACK,
      code: back.url.searchParams.get("code") ?? "",
      code_verifier: VERIFIER,
    }),
  });
  const { access_token: accessToken } = (await answer.json()) as { readonly access_token?: string };
  if (accessToken === undefined) throw new Error(`${browser.name} got no session: ${answer.status}`);
  return accessToken;
}
