/** What a vendor answers without a broker: the same reading, and the same shape for the backend. */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { CREDENTIALS, directClient, RESOLVED } from "../testing/direct-client.ts";
import { connectionOf } from "./connection.ts";

const connection = connectionOf(RESOLVED, CREDENTIALS.clientId, undefined);

function openDirect(answer: { body: string; init?: ResponseInit }) {
  const now = fixedClock(1_700_000_000);
  const seen: string[] = [];
  const client = directClient({
    now,
    fetch: async (_url, init) => {
      const form = await new Request("https://vendor.example", init ?? {}).formData();
      const sent = form.get("refresh_token");
      if (typeof sent === "string") seen.push(sent);
      return new Response(answer.body, answer.init);
    },
  });
  return { client, now, seen };
}

describe("direct", () => {
  it("gives numbers beyond 2^53 as texts", async () => {
    const body = '{"access_token":"a","token_type":"bearer","user_id":17841405822304915,"deep":[{"n":1.0}]}';
    const { client } = openDirect({ body });
    expect(await client.refresh({ refreshToken: "rt", connection })).toMatchObject({
      outcome: "ok",
      tokens: { vendorData: { user_id: "17841405822304915", deep: [{ n: 1 }] } },
    });
  });

  it.each([null, ""])("takes %j, as a database gives it, for absent", async (none) => {
    const { client } = openDirect({ body: '{"access_token":"a","token_type":"bearer"}' });
    const absent = { connection: none, scope: none, byoc: none } as object;
    expect(await client.refresh({ refreshToken: "rt", ...absent })).toMatchObject({ outcome: "ok" });
    expect(await client.revoke({ token: "rt", ...absent })).toMatchObject({ outcome: "unsupported" });
    const nothing = { outcome: "reauthorize", reason: "no_refresh_token" };
    expect(await client.refresh({ refreshToken: none as never, connection })).toEqual(nothing);
  });

  it("waits as long as the vendor says, for this user's tokens alone", async () => {
    const answer: { body: string; init?: ResponseInit } = {
      body: "",
      init: { status: 429, headers: { "retry-after": "3600" } },
    };
    const { client, now, seen } = openDirect(answer);
    const later = { outcome: "retry_later", reason: "vendor" };
    expect(await client.refresh({ refreshToken: "one", connection })).toMatchObject(later);
    expect(await client.refresh({ refreshToken: "one", connection })).toMatchObject(later);
    expect(seen).toEqual(["one"]);
    Object.assign(answer, { body: '{"access_token":"a","token_type":"bearer"}', init: {} });
    expect(await client.refresh({ refreshToken: "two", connection })).toMatchObject({ outcome: "ok" });
    now.advance(3600);
    expect(await client.refresh({ refreshToken: "one", connection })).toMatchObject({ outcome: "ok" });
  });

  it("says that a grant is dead in whatever words the vendor has for it", async () => {
    const { client } = openDirect({ body: '{"error":{"code":"INVALID_GRANT"}}', init: { status: 500 } });
    expect(await client.refresh({ refreshToken: "rt", connection })).toMatchObject({ outcome: "reauthorize" });
  });
});
