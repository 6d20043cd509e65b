/**
 * Where clients of several owners share the broker's client at a vendor, a token counts only beside
 * the connection that it came with.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { connectionOf, openConnection, sealConnection } from "../grants/connection.ts";
import { sealRefreshToken } from "../grants/sealed-refresh-token.ts";
import { bindTokens } from "../grants/token-binding.ts";
import { besideTokens, choose, rotatingTokens, testBroker, testClient, WAYS } from "../testing/test-broker.ts";

/** A client of its own that says it is the broker's. */
const OURS = { vendor_client_id: "ours", vendor_client_secret: "vendor secret" };

type Form = Record<string, string>;

interface Grant {
  readonly access: string;
  readonly refresh: string;
  readonly connection: string;
}

/** @param owners of the clients `platform` and `other` */
async function setUp(owners: readonly (string | undefined)[] = ["acme", "globex"]) {
  const clients = ["platform", "other"].map((id, at) => ({
    ...testClient(id),
    ...(owners[at] === undefined ? {} : { owner: owners[at] }),
  }));
  const issue = rotatingTokens();
  // It takes its clients' tokens for those of one client.
  const vendorAnswers: Fetch = async (input) => besideTokens(input) ?? issue(input);
  const broker = await testBroker({ config: { clients }, vendor: WAYS, vendorAnswers });
  /** As the answer to a code has it, after the user has seen the owner page. */
  const grant = async (clientId: string, form: Form = {}): Promise<Grant> => {
    const [access, refresh] = ["access", "refresh"].map((kind) => `${kind}-of-${clientId}`) as [string, string];
    const client = (await broker.deps.clients.find(clientId)) ?? expect.fail("no client");
    const choice = await choose(broker, clientId, new URLSearchParams({ vendor: "acme", ...form }).toString());
    const tokens = { accessToken: access, refreshToken: refresh };
    const connection = bindTokens(connectionOf(choice, undefined), tokens, choice, client, broker.deps);
    return { access, refresh, connection: sealConnection(connection, clientId, broker.deps) };
  };
  return { ...broker, grant };
}

/** A stolen token at each door that takes one. */
const DOORS: readonly [string, string, (stolen: Grant) => Form][] = [
  ["a refresh token", "/v1/token", ({ refresh }) => ({ grant_type: "refresh_token", refresh_token: refresh })],
  ["a refresh token", "/v1/revoke", ({ refresh }) => ({ token: refresh })],
  ["an access token", "/v1/revoke", ({ access }) => ({ token: access, token_type_hint: "access_token" })],
  ["an access token", "/v1/check", ({ access }) => ({ access_token: access })],
];

describe.each(DOORS)("bar#RF-7 bar#RV-3 rfc6749#10.4 %s of another owner's client at %s", (_, path, formOf) => {
  const required = path === "/v1/check" ? undefined : "connection_required";

  it.each<[string, (own: Grant) => Form, string, string | undefined]>([
    ["the attacker's own connection", ({ connection }) => ({ connection }), "invalid_grant", "connection_mismatch"],
    ["the vendor's name", () => ({ vendor: "acme" }), "invalid_request", required],
    ["the broker's client id as the attacker's own", () => ({ vendor: "acme", ...OURS }), "invalid_request", required],
  ])("beside %s is refused, and no vendor is called", async (_beside, beside, error, reason) => {
    const { grant, post, seen } = await setUp();
    const [stolen, own] = [await grant("platform"), await grant("other")];
    const { response, body } = await post(path, { ...formOf(stolen), ...beside(own) }, "other");
    expect([response.status, body["error"], body["reason"]]).toEqual([400, error, reason]);
    expect(seen).toEqual([]);
  });

  it("beside a connection of the attacker's own that names the broker's client id: refused", async () => {
    const { grant, post, seen } = await setUp();
    const [stolen, own] = [await grant("platform"), await grant("other", OURS)];
    const { body } = await post(path, { ...formOf(stolen), connection: own.connection, ...OURS }, "other");
    expect(body["error"]).toBe("invalid_grant");
    expect(seen).toEqual([]);
  });

  it("beside a connection of before, which knows no tokens: refused, for its own client too", async () => {
    const { grant, post, seen, deps } = await setUp();
    const own = await grant("platform");
    const { tokens: _none, ...before } = await openConnection(own.connection, "platform", deps);
    const connection = sealConnection(before, "platform", deps);
    expect((await post(path, { ...formOf(own), connection })).body["error"]).toBe("invalid_grant");
    expect(seen).toEqual([]);
  });

  it("the owner's client itself gets through with the connection of the answer", async () => {
    const { grant, post, seen } = await setUp();
    const own = await grant("platform");
    expect((await post(path, { ...formOf(own), connection: own.connection })).response.status).toBe(200);
    expect(seen).toHaveLength(1);
  });

  it.each([
    ["with one owner", ["acme", "acme"]],
    ["without owners", []],
  ])("%s the vendor's name is enough, except to check", async (_who, owners) => {
    const { grant, post } = await setUp(owners);
    const own = await grant("platform");
    const named = path === "/v1/check" ? { connection: own.connection } : { vendor: "acme" };
    expect((await post(path, { ...formOf(own), ...named })).response.status).toBe(200);
  });
});

describe("a sealed refresh token, where owners share the vendor client", () => {
  it("is enough by itself, and says nothing for an access token of another answer", async () => {
    const { grant, post, seen, deps } = await setUp();
    const [own, stolen] = [await grant("other"), await grant("platform")];
    const inside = await openConnection(own.connection, "other", deps);
    const sealed = sealRefreshToken(own.refresh, inside, "other", deps) ?? "";
    for (const beside of [{ refresh_token: sealed }, { connection: sealed }]) {
      const asked = await post("/v1/check", { access_token: stolen.access, ...beside }, "other");
      expect(asked.body).toMatchObject({ error: "invalid_grant", reason: "connection_mismatch" });
    }
    const revoked = await post("/v1/revoke", { token: stolen.access, connection: sealed }, "other");
    expect(revoked.body["error"]).toBe("invalid_grant");
    expect(seen).toEqual([]);
    const check = await post("/v1/check", { access_token: own.access, refresh_token: sealed }, "other");
    expect(check.body).toMatchObject({ active: true });
    const refreshed = await post("/v1/token", { grant_type: "refresh_token", refresh_token: sealed }, "other");
    expect(refreshed.body["access_token"]).toBe("at-1");
    expect((await post("/v1/revoke", { token: sealed }, "other")).body).toEqual({ revoked: "token" });
  });

  it("refreshes also when it was sealed before there was another owner, and then checks", async () => {
    const { grant, post, deps } = await setUp();
    const { refresh, connection } = await grant("platform");
    const { tokens: _none, ...before } = await openConnection(connection, "platform", deps);
    const refresh_token = sealRefreshToken(refresh, before, "platform", deps) ?? "";
    const { body } = await post("/v1/token", { grant_type: "refresh_token", refresh_token });
    const check = { access_token: String(body["access_token"]), connection: String(body["connection"]) };
    expect((await post("/v1/check", check)).body).toMatchObject({ active: true });
  });
});

describe("what a connection knows of tokens", () => {
  it("bar#RF-8 one kind is not taken for the other", async () => {
    const { grant, post, seen } = await setUp();
    const { access, refresh, connection } = await grant("platform");
    const asked = [
      await post("/v1/token", { grant_type: "refresh_token", refresh_token: access, connection }),
      await post("/v1/check", { access_token: refresh, connection }),
    ];
    expect(asked.map(({ body }) => body["error"])).toEqual(["invalid_grant", "invalid_grant"]);
    expect(seen).toEqual([]);
  });

  it("each refresh returns the connection of its tokens; the old pair keeps working", async () => {
    const { grant, post } = await setUp();
    const first = await grant("platform");
    const refresh = async (token: unknown, connection: unknown) => {
      const form = { refresh_token: String(token), connection: String(connection) };
      return (await post("/v1/token", { grant_type: "refresh_token", ...form })).body;
    };
    const second = await refresh(first.refresh, first.connection);
    // The answer was lost on its way, and the client asks again with what it has.
    const again = await refresh(first.refresh, first.connection);
    expect([again["access_token"], again["refresh_token"]]).toEqual([second["access_token"], second["refresh_token"]]);
    expect((await refresh(second["refresh_token"], first.connection))["error"]).toBe("invalid_grant");
    expect((await refresh(second["refresh_token"], again["connection"]))["access_token"]).toBe("at-2");
    const check = { access_token: String(second["access_token"]), connection: String(second["connection"]) };
    expect((await post("/v1/check", check)).body).toMatchObject({ active: true });
  });

  it("a refresh token that the vendor keeps is known to every connection after it", async () => {
    const clients = ["platform", "other"].map((id) => ({ ...testClient(id), owner: `of ${id}` }));
    const { deps, post } = await testBroker({ config: { clients } });
    const client = (await deps.clients.find("platform")) ?? expect.fail("no client");
    const choice = await choose({ deps }, "platform");
    const tokens = { accessToken: "at", refreshToken: "rt" };
    const bound = bindTokens(connectionOf(choice, undefined), tokens, choice, client, deps);
    let connection = sealConnection(bound, "platform", deps);
    for (const scope of ["a", "b", "c"]) {
      const form = { grant_type: "refresh_token", refresh_token: "rt", scope, connection };
      const { response, body } = await post("/v1/token", form);
      expect([response.status, body["refresh_token"]]).toEqual([200, "rt"]);
      connection = String(body["connection"]);
    }
  });

  it("holds hashes alone, under a key of the connection's generation", async () => {
    const { grant, post, deps, now } = await setUp();
    const { connection, ...own } = await grant("platform");
    const { tokens } = await openConnection(connection, "platform", deps);
    const hash = expect.stringMatching(/^[\w-]{22}$/) as string;
    expect(tokens).toEqual({ access: hash, refresh: hash });
    expect(connection.length).toBeLessThan(600);
    await deps.keyset.rotate();
    now.advance(60);
    const form = { grant_type: "refresh_token", refresh_token: own.refresh, connection };
    const { body } = await post("/v1/token", form);
    expect(body).toMatchObject({ access_token: "at-1", connection: expect.any(String) });
    const next = { ...form, refresh_token: String(body["refresh_token"]), connection: String(body["connection"]) };
    expect((await post("/v1/token", next)).body["access_token"]).toBe("at-2");
  });

  it("a client with an owner has them before a second owner; one without has none", async () => {
    for (const [owners, known] of [
      [["acme", "acme"], true],
      [[], false],
    ] as const) {
      const { grant, post, deps } = await setUp(owners);
      const { refresh, connection } = await grant("platform");
      const { body } = await post("/v1/token", { grant_type: "refresh_token", refresh_token: refresh, connection });
      for (const value of [connection, String(body["connection"])]) {
        expect((await openConnection(value, "platform", deps)).tokens !== undefined).toBe(known);
      }
    }
  });

  it("forgets tokens that are not its own any more, where no owner has to be told apart", async () => {
    const { grant, post, deps } = await setUp([]);
    const { refresh, connection } = await grant("platform");
    const tokens = { access: "of a client with an owner" };
    const inside = { ...(await openConnection(connection, "platform", deps)), tokens };
    const before = { refresh_token: refresh, connection: sealConnection(inside, "platform", deps) };
    const { body } = await post("/v1/token", { grant_type: "refresh_token", ...before });
    expect(body["access_token"]).toBe("at-1");
    expect(await openConnection(String(body["connection"]), "platform", deps)).not.toHaveProperty("tokens");
  });
});
