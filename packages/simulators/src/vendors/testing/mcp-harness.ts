/** The harness of the tests of MCP authorization servers: registered clients and their requests. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { onTestFinished } from "vitest";
import { startScriptedVendor } from "../../scripted-vendor.ts";
import type { AuthMethod } from "../base/clients.ts";
import type { VendorSimulator } from "../base/host.ts";
import type { SimulatorOptions } from "../base/simulator.ts";
import { basic, browse, CALLBACK, CHALLENGE, postForm, postJson, VERIFIER, type Answer, type Browse } from "./http.ts";

export type Members = Record<string, string>;

/** A client as registration returned it, with its own authentication method. */
export interface Registered {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly method: AuthMethod;
}

/** `code_challenge` and its method, S256. */
export const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };

/** A vendor of this test. */
export async function mcpHarness(startVendor: (options: SimulatorOptions) => Promise<VendorSimulator>) {
  const now = fixedClock(1_700_000_000);
  const vendor = await startVendor({ now });
  onTestFinished(vendor.close);
  const { authorization_endpoint = "", token_endpoint = "", registration_endpoint = "" } = vendor.endpoints;
  const register = async (method: AuthMethod = "none"): Promise<Registered> => {
    const metadata = { redirect_uris: [CALLBACK], token_endpoint_auth_method: method, client_name: "Broker" };
    const { body } = await postJson(registration_endpoint, metadata);
    return { clientId: String(body["client_id"]), clientSecret: body["client_secret"] as string | undefined, method };
  };
  /** A form to the token URL, with the client's credentials if it registered them. */
  const post = (
    client: Registered,
    members: Members,
    as: AuthMethod = client.method,
    path?: string,
  ): Promise<Answer> => {
    const secret = client.clientSecret ?? "none";
    const body = as === "client_secret_basic" ? {} : { client_id: client.clientId };
    const inBody = as === "client_secret_post" ? { client_secret: secret } : {};
    const headers = as === "client_secret_basic" ? basic(client.clientId, secret) : {};
    return postForm(path ?? token_endpoint, { ...body, ...inBody, ...members }, headers);
  };
  const authorize = (client: Pick<Registered, "clientId">, more: Members = {}, options: Browse = {}) => {
    const query = { response_type: "code", client_id: client.clientId, redirect_uri: CALLBACK, state: "s1" };
    return browse(authorization_endpoint, { ...query, ...PKCE, ...more }, options);
  };
  const redeem = (client: Registered, code: string, more: Members = {}) =>
    post(client, { grant_type: "authorization_code", code, redirect_uri: CALLBACK, code_verifier: VERIFIER, ...more });
  const connect = async (client: Registered, more: Members = {}, options: Browse = {}) => {
    const { code = "" } = await authorize(client, more, options);
    const { body } = await redeem(client, code);
    return body as { readonly access_token: string; readonly refresh_token: string; readonly scope: string };
  };
  const refresh = (client: Registered, refreshToken: string) =>
    post(client, { grant_type: "refresh_token", refresh_token: refreshToken });
  const revoke = (client: Registered, token: string) => post(client, { token });
  return { vendor, register, post, authorize, redeem, connect, refresh, revoke, advance: now.advance };
}

/** Serves one JSON document on loopback, which may change; `address` is a client id. */
export async function serveDocument(initial: (address: string) => object) {
  const { url, close } = await startScriptedVendor({ "*": () => ({ body: document.current }) });
  const address = `${url}/client.json`;
  const document = { current: initial(address) };
  return { address, document, close };
}
