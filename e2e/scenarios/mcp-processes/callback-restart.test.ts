/**
 * A server with its own callback that is restarted before every leg: its state is in its file, not
 * in its memory.
 */
import { createCookieJar, driveConsent } from "@oauth-broker/simulators";
import { afterAll, beforeAll, expect, it } from "vitest";
import { postWhoami } from "../../support/mcp/client.ts";
import { type ServerCallbackHarness, startServerCallback, VERIFIER } from "../../support/mcp/server-callback.ts";
import { plantSecret } from "../../support/secrets.ts";

const BACK = "http://127.0.0.1/back";
let harness: ServerCallbackHarness;
beforeAll(async () => {
  harness = await startServerCallback(() => ({ OAUTH_DYNAMIC_REGISTRATION: "open" }));
});
afterAll(() => harness.close());

const tokensOf = async (members: Record<string, string>) => {
  const answer = await fetch(`${harness.server.url}/token`, { method: "POST", body: new URLSearchParams(members) });
  const body = (await answer.json()) as Record<string, string>;
  for (const name of ["access_token", "refresh_token"]) plantSecret(`our ${name}`, body[name] ?? null);
  return { status: answer.status, error: body["error"], access: body["access_token"], refresh: body["refresh_token"] };
};

it("takes each step of a flow, refreshes and is found out, each at a new server", async () => {
  const registered = await fetch(`${harness.server.url}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [BACK], client_name: "Client" }),
  });
  const { client_id = "" } = (await registered.json()) as { client_id?: string };
  await harness.restart();

  const cookieJar = createCookieJar();
  const legs: ((url: URL) => boolean)[] = [
    (url) => url.href.startsWith(harness.provider.issuer),
    (url) => url.href.startsWith(`${harness.server.url}/callback`),
    (url) => url.href.startsWith(BACK),
  ];
  let place = new URL(harness.authorizeUrl({ client_id, redirect_uri: BACK }));
  for (const stopAt of legs) {
    // oxlint-disable-next-line no-await-in-loop -- one leg after the other
    place = await driveConsent(place, { cookieJar, stopAt });
    // oxlint-disable-next-line no-await-in-loop
    await harness.restart();
  }
  const code = place.searchParams.get("code") ?? "";
  plantSecret("code", code);
  const redeem = { grant_type: "authorization_code", client_id, redirect_uri: BACK, code, code_verifier: VERIFIER };
  const first = await tokensOf(redeem);
  expect(first.status).toBe(200);
  await harness.restart();

  expect((await postWhoami(harness.server.mcp, first.access)).status).toBe(200);
  const next = await tokensOf({ grant_type: "refresh_token", client_id, refresh_token: first.refresh ?? "" });
  expect(next.status).toBe(200);
  await harness.restart();

  expect(await tokensOf(redeem)).toMatchObject({ status: 400, error: "invalid_grant" });
  expect((await postWhoami(harness.server.mcp, next.access)).status).toBe(401);
});
