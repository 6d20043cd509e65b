/**
 * Changes of a connection while its tokens are refreshed: a rotated refresh token is stored
 * whatever else changes in the meantime.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import { ofEachTest, shared } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { FIRST, openVendorConnect } from "../testing/vendor-connect.ts";
import type { Bearer } from "./bearer.ts";
import { disconnect } from "./disconnect.ts";

const userId = FIRST.user.id;
const platform = shared(openVendorConnect);
const connector = ofEachTest(() => platform.newConnector());
beforeEach(async () => {
  await connect();
});

const connect = (decision: "approve" | "cancel" = "approve") => platform.connect(connector, FIRST, { decision });

interface Held {
  /** The result of the caller that waits for the refresh. */
  readonly refreshed: Promise<Bearer>;
  /** Lets the vendor's answer through. */
  deliver(): void;
  /** The paths of the vendor that were asked. */
  readonly asked: readonly string[];
}

/**
 * The server refused this bearer; the vendor has rotated, and its answer is on the way.
 *
 * @param says instead of the vendor's answer
 */
async function refreshUnderWay(refused: Bearer, says?: Response): Promise<Held> {
  const answered = Promise.withResolvers<void>();
  const delivered = Promise.withResolvers<void>();
  const asked: string[] = [];
  const fetch: Fetch = async (url, init) => {
    asked.push(new URL(url).pathname);
    const answer = await platform.fetch(url, init);
    if (init?.method !== "POST") return answer;
    answered.resolve();
    await delivered.promise;
    return says ?? answer;
  };
  const refreshed = platform.bearers(fetch).bearerFor(connector, userId, refused);
  await answered.promise;
  return { refreshed, deliver: delivered.resolve, asked };
}

const bearer = (refused?: Bearer): Promise<Bearer> => platform.bearers().bearerFor(connector, userId, refused);
const status = () => platform.statusOf(connector);

describe("a refresh under way", () => {
  const meanwhile: Readonly<Record<string, (before: Bearer) => Promise<unknown>>> = {
    "a reconnect that was cancelled": () => connect("cancel"),
    "a tool that wants more scope": ({ revision = "" }) =>
      platform.connections.wantScope(connector, userId, "email", revision),
    "several of both": async ({ revision = "" }) => {
      await connect("cancel");
      await platform.connections.wantScope(connector, userId, "email", revision);
      await connect("cancel");
    },
  };

  it.each(Object.keys(meanwhile))("rfc6749#6 keeps the rotated refresh token beside %s (#11)", async (name) => {
    const before = await bearer();
    const { refreshed, deliver } = await refreshUnderWay(before);
    await meanwhile[name]?.(before);
    const noted = await status();
    deliver();
    const after = await refreshed;
    expect(after.token).not.toBe(before.token);
    // What was stored in the meantime is still there.
    expect(await status()).toEqual(noted);
    // So is the grant: a spent refresh token would end it here.
    expect((await bearer(after)).token).not.toBe(after.token);
    expect(await status()).toMatchObject({ state: "connected" });
  });

  it("gives way to a new authorization: the tokens of the old grant are dropped", async () => {
    const { refreshed, deliver } = await refreshUnderWay(await bearer());
    await connect();
    const fresh = await bearer();
    deliver();
    // The waiting caller gets the new tokens.
    expect(await refreshed).toEqual(fresh);
    expect(await bearer()).toEqual(fresh);
    expect((await bearer(fresh)).token).not.toBe(fresh.token);
  });

  it("gives way to a new authorization where it finds the old grant ended, too", async () => {
    const ended = Response.json({ error: "invalid_grant" }, { status: 400 });
    const { refreshed, deliver } = await refreshUnderWay(await bearer(), ended);
    await connect();
    deliver();
    expect(await refreshed).toEqual(await bearer());
    expect(await status()).toMatchObject({ state: "connected" });
  });

  it("bar#RV-4 does not bring back what the user disconnected, and what came of it is revoked", async () => {
    const { refreshed, deliver, asked } = await refreshUnderWay(await bearer());
    await platform.connections.forget(connector, userId);
    deliver();
    await expect(refreshed).rejects.toMatchObject({ extras: { reason: "not_connected" } });
    expect(await status()).toEqual({ state: "none" });
    expect(asked.at(-1)).toBe("/token/revocation");
  });

  it("bar#RV-1 a disconnect is done here before the vendor is asked", async () => {
    const states: string[] = [];
    const fetch: Fetch = async (url, init) => {
      states.push((await status()).state);
      return platform.fetch(url, init);
    };
    expect(await disconnect(connector, userId, { ...platform, fetch })).toEqual({ tokens: "revoked" });
    expect(new Set(states)).toEqual(new Set(["none"]));
  });
});

describe("a grant that ended", () => {
  it("is to be authorized again, whatever was noted since, and what was noted stays (#11)", async () => {
    const { revision = "" } = await bearer();
    await platform.connections.wantScope(connector, userId, "email", revision);
    await connect("cancel");
    const { failure, wantedScope } = await status();
    await platform.connections.markForReauthorization(connector, userId, "invalid_grant", revision);
    expect(await status()).toMatchObject({ state: "reauthorize", reason: "invalid_grant", failure, wantedScope });
    expect(await platform.connections.open(connector, userId)).toBeUndefined();
  });
});

it("a token the server refused is retried although the connection changed otherwise (#11)", async () => {
  const refused = await bearer();
  await connect("cancel");
  expect((await bearer(refused)).token).not.toBe(refused.token);
});
