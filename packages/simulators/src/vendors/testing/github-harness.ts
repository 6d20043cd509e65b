/** The harness of the GitHub simulator's tests. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { onTestFinished } from "vitest";
import { startGitHub } from "../github.ts";
import type { GitHubClient } from "../github.ts";
import { basic, browse, CALLBACK, postForm, request, type Browse } from "./http.ts";

export const CLIENT = { clientId: "gh-client", clientSecret: "gh secret+1", redirectUris: [CALLBACK], name: "Broker" };
export const SECRET = { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret };
const JSON_PLEASE = { Accept: "application/json" };

/** A GitHub with one app, and the requests of its test. */
export async function startHarness(client: Partial<GitHubClient> = {}) {
  const now = fixedClock(1_700_000_000);
  const vendor = await startGitHub({ now });
  onTestFinished(vendor.close);
  vendor.addClient({ ...CLIENT, ...client });
  const authorization = vendor.endpoints["authorization_endpoint"]!;
  const tokenEndpoint = vendor.endpoints["token_endpoint"]!;
  const query = { client_id: CLIENT.clientId, redirect_uri: CALLBACK, state: "s1", scope: "repo read:org" };
  const authorize = (more: Record<string, string> = {}, options: Browse = {}) =>
    browse(authorization, { ...query, ...more }, options);
  const token = async (members: Record<string, string>) =>
    (await postForm(tokenEndpoint, { ...SECRET, ...members }, JSON_PLEASE)).body;
  const connect = async (more: Record<string, string> = {}, options: Browse = {}) =>
    token({ code: (await authorize(more, options))["code"]! });
  const remove = (
    what: "token" | "grant",
    accessToken: string,
    headers = basic(CLIENT.clientId, CLIENT.clientSecret),
  ) =>
    request(`${vendor.url}/applications/${CLIENT.clientId}/${what}`, {
      method: "DELETE",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ access_token: accessToken }),
    });
  return {
    vendor,
    tokenEndpoint,
    authorize,
    token,
    connect,
    remove,
    advance: now.advance,
  };
}
