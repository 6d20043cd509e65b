/**
 * Equal refreshes become one vendor call, and each caller gets its answer. Attacker: a caller for
 * whom that call was not made: another client with an already spent refresh token, or an attacker
 * whose own refresh token stands where a user's belongs. Defence: the client is part of what makes
 * refreshes equal (singleFlightId), and the subject is compared for each caller
 * (requireSameSubject). One who is left with a token of a user who has disconnected gets nothing of
 * an answer that is kept (createSingleFlight's revoke).
 */
import { type FakeVendorOptions, ownerOf, tokenOf } from "@oauth-broker/simulators";
import * as singleFlightModule from "@oauth-broker/broker/src/grants/single-flight.ts";
import * as validateModule from "../../packages/oauth-core/src/vendor-client/id-token/checks.ts";
import { describe, expect, it } from "vitest";
import { createClientKeys } from "../support/broker/client-keys.ts";
import { HONEST, NOW, VENDOR_CLIENT } from "./support/names.ts";
import { without } from "./support/outcomes.ts";
import { openScene } from "./support/actors.ts";

type VendorOptions = Pick<FakeVendorOptions, "paths" | "token">;

describe("bar#RF-1 a refresh token of one client, spent, in the hands of another", () => {
  /** A vendor that rotates: a refresh token works once. */
  function rotatingVendor(): VendorOptions {
    const spent = new Set<string>();
    return {
      token: (request, honest) => {
        const presented = request.form.get("refresh_token");
        if (presented === null) return honest(request);
        if (spent.has(presented)) return { status: 400, body: { error: "invalid_grant" } };
        spent.add(presented);
        return honest(request);
      },
    };
  }

  async function replay() {
    const { backend, foe, victim } = await openScene({ vendor: rotatingVendor() });
    const { refresh_token } = (await backend.connect(victim)).body;
    const form = { grant_type: "refresh_token", vendor: "honest", refresh_token };
    const theirs = await backend.post("/v1/token", form);
    expect(ownerOf(theirs.body["access_token"])).toBe("victim");
    return { theirs, stolen: await foe.post("/v1/token", form) };
  }

  it("is refused by the vendor: what was answered to its client is not replayed", async () => {
    const { stolen } = await replay();
    expect([stolen.status, stolen.body["error"]]).toEqual([400, "invalid_grant"]);
  });

  it("twin: without the client in the key of a refresh, it gets the victim's fresh tokens", async () => {
    without(singleFlightModule, ({ singleFlightId }) => ({
      singleFlightId: (parts) => singleFlightId(parts.slice(1)),
    }));
    const { theirs, stolen } = await replay();
    expect(stolen.body["refresh_token"]).toBe(theirs.body["refresh_token"]);
  });
});

describe("bar#RV-4 a user who disconnects within a minute of a refresh", () => {
  async function disconnect() {
    const { backend, victim } = await openScene({
      vendor: { token: (request, honest) => (request.form.has("token") ? { status: 200 } : honest(request)) },
      entries: { honest: { name: "Honest", issuer: HONEST, revocation_endpoint: `${HONEST}/token?revoke` } },
    });
    const { refresh_token, connection } = (await backend.connect(victim)).body;
    const form = { grant_type: "refresh_token", connection, refresh_token };
    const { access_token } = (await backend.post("/v1/token", form)).body;
    expect((await backend.post("/v1/revoke", { connection, token: String(access_token) })).status).toBe(200);
    return { access_token, again: await backend.post("/v1/token", form) };
  }

  it("is not connected again by the answer that was kept", async () => {
    const { access_token, again } = await disconnect();
    expect(again.body["access_token"]).not.toBe(access_token);
  });

  it("twin: if the revocation is not noted, the tokens that were revoked are handed out", async () => {
    without(singleFlightModule, ({ createSingleFlight }) => ({
      createSingleFlight: (options) => ({ ...createSingleFlight(options), revoke: async () => undefined }),
    }));
    const { access_token, again } = await disconnect();
    expect(again.body["access_token"]).toBe(access_token);
  });
});

describe("bar#RF-6 the attacker's refresh token beside the victim's connection", () => {
  /** Every answer names its subject. */
  async function namingVendor(): Promise<VendorOptions> {
    const { jwks, sign } = await createClientKeys("first");
    const claims = { iss: HONEST, aud: VENDOR_CLIENT.clientId, iat: NOW, exp: NOW + 3600 };
    const idTokenOf = (subject: string) => sign({ ...claims, sub: subject });
    const idTokens = { victim: await idTokenOf("victim"), attacker: await idTokenOf("attacker") };
    const userOf = ({ form }: { form: URLSearchParams }): keyof typeof idTokens =>
      /of-attacker-/.test(`${form.get("code") ?? ""}${form.get("refresh_token") ?? ""}`) ? "attacker" : "victim";
    return {
      paths: { "/jwks": () => ({ body: JSON.parse(jwks) as object }) },
      token: (request) => {
        const user = userOf(request);
        const tokens = { access_token: tokenOf("token", user), refresh_token: tokenOf("refresh", user) };
        return { body: { ...tokens, token_type: "Bearer", id_token: idTokens[user] } };
      },
    };
  }

  async function plant(isShared: boolean) {
    const { backend, victim, attacker } = await openScene({ vendor: await namingVendor() });
    const { connection } = (await backend.connect(victim)).body;
    const { refresh_token } = (await backend.connect(attacker)).body;
    const form = { grant_type: "refresh_token", refresh_token };
    // The call is made for a caller that names the vendor alone, so it has no subject to compare.
    if (isShared) await backend.post("/v1/token", { ...form, vendor: "honest" });
    return backend.post("/v1/token", { ...form, connection });
  }

  it.each([
    ["of a call of its own", false],
    ["of a call made for another request", true],
  ])("is refused the answer %s", async (_whose, isShared) => {
    const { status, body } = await plant(isShared);
    expect([status, body["error"], body["reason"]]).toEqual([502, "vendor_response_invalid", "subject_mismatch"]);
  });

  it("twin: without the comparison the attacker's tokens are the victim's connection", async () => {
    without(validateModule, () => ({ requireSameSubject: () => undefined }));
    const { body } = await plant(true);
    expect([ownerOf(body["access_token"]), body["connection"]]).toEqual(["attacker", expect.any(String)]);
  });
});
