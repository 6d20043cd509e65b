/** The harness of the Slack simulator's tests. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { onTestFinished } from "vitest";
import type { SlackClient } from "../slack.ts";
import { startSlack } from "../slack.ts";
import { bearer, browse, CALLBACK, postForm, request, type Browse } from "./http.ts";

export const CLIENT = { clientId: "11.22", clientSecret: "slack secret", redirectUris: [CALLBACK], name: "Broker" };
export const SECRET = { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret };

export type Members = Record<string, string>;
export type User = Record<string, string>;

/** A Slack with one app, and the requests of its test. */
export async function startHarness(client: Partial<SlackClient> = {}) {
  const now = fixedClock(1_700_000_000);
  const vendor = await startSlack({ now });
  onTestFinished(vendor.close);
  vendor.addClient({ ...CLIENT, ...client });
  const [user, bot] = [vendor.endpoints, vendor.botEndpoints];
  const query = { client_id: CLIENT.clientId, redirect_uri: CALLBACK, state: "s1" };
  const redeem = async (url: string, members: Members, headers: Members = {}) =>
    (await postForm(url, { ...SECRET, redirect_uri: CALLBACK, ...members }, headers)).body;
  const authorizeUser = (more: Members = {}, options: Browse = {}) =>
    browse(user["authorization_endpoint"]!, { ...query, scope: "chat:write,users:read", ...more }, options);
  const authorizeBot = (more: Members = {}) => browse(bot["authorization_endpoint"], { ...query, ...more });
  const connectUser = async (more: Members = {}, options: Browse = {}) => {
    const { code = "" } = await authorizeUser(more, options);
    return redeem(user["token_endpoint"]!, { code });
  };
  const connectBot = async (more: Members) =>
    redeem(bot["token_endpoint"], { code: (await authorizeBot(more))["code"]! });
  const refresh = async (refreshToken: string, url = user["refresh_endpoint"]!) =>
    (await postForm(url, { ...SECRET, grant_type: "refresh_token", refresh_token: refreshToken })).body;
  const revoke = async (token: string, more: Members = {}) =>
    (await postForm(user["revocation_endpoint"]!, more, bearer(token))).body;
  const page = async (url: string, more: Members) => {
    const answer = await request(`${url}?${new URLSearchParams({ ...query, ...more }).toString()}`);
    return answer.text;
  };
  return {
    vendor,
    user,
    bot,
    redeem,
    authorizeUser,
    authorizeBot,
    connectUser,
    connectBot,
    refresh,
    revoke,
    page,
    advance: now.advance,
  };
}
