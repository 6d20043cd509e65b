import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { createFakeVendor, fakeCode, ownerOf } from "./fake-vendor.ts";
import { startFakeVendor } from "./start-fake-vendor.ts";

const vendor = ofEachTest(() => startFakeVendor({ codes: "named" }));

const token = async (form: Record<string, string>): Promise<{ status: number; body: Record<string, string> }> => {
  const answer = await fetch(`${vendor.url}/token`, { method: "POST", body: new URLSearchParams(form) });
  const text = await answer.text();
  return { status: answer.status, body: (text === "" ? {} : JSON.parse(text)) as Record<string, string> };
};
const accountOf = async (accessToken = ""): Promise<unknown> => {
  const answer = await fetch(`${vendor.url}/account`, { headers: { authorization: `Bearer ${accessToken}` } });
  return answer.json();
};

describe("the fake vendor that accepts named codes", () => {
  it("names the user of an access token, and accepts a code once", async () => {
    const code = fakeCode("alice");
    const { body } = await token({ code });
    expect(body["access_token"]).toMatch(/^token-of-alice-/);
    expect(await accountOf(body["access_token"])).toEqual({ sub: "alice" });
    expect(await accountOf("token-of-alice-guess")).toEqual({ error: "invalid_token" });
    expect((await token({ code })).status).toBe(400);
  });

  it("rotates refresh tokens, and ends the grant of one that comes twice", async () => {
    const first = (await token({ code: fakeCode("alice") })).body["refresh_token"] ?? "";
    const second = (await token({ refresh_token: first })).body["refresh_token"] ?? "";
    expect(second).toMatch(/^refresh-of-alice-/);
    expect((await token({ refresh_token: first })).status).toBe(400);
    expect((await token({ refresh_token: second })).status).toBe(400);
    expect(vendor.counts()).toMatchObject({ refreshes: 3, replays: 1 });
  });

  it("throttles refreshes beyond its limit, and spends nothing then", async () => {
    const limited = await startFakeVendor({ codes: "named", refreshesPerSecond: 1, firstLifetimeSeconds: 60 });
    const ask = async (form: Record<string, string>) =>
      fetch(`${limited.url}/token`, { method: "POST", body: new URLSearchParams(form) });
    const first = (await (await ask({ code: fakeCode("alice") })).json()) as Record<string, string | number>;
    expect(first["expires_in"]).toBe(60);
    const form = { refresh_token: String(first["refresh_token"]) };
    const statuses: number[] = [];
    let refused: Response | undefined;
    // Of three calls at once at most one in each of two seconds is within the limit.
    for (const answer of await Promise.all([ask(form), ask({ refresh_token: "x" }), ask({ refresh_token: "y" })])) {
      statuses.push(answer.status);
      if (answer.status === 429) refused = answer;
    }
    expect(refused?.headers.get("retry-after")).toBe("1");
    expect(limited.counts()).toMatchObject({ refreshes: 3, replays: 0 });
    expect(limited.counts().throttled).toBe(statuses.filter((status) => status === 429).length);
    await limited.close();
  });

  it("answers nothing but an outage while it has one", async () => {
    const code = fakeCode("alice");
    vendor.outage(true);
    expect((await token({ code })).status).toBe(503);
    vendor.outage(false);
    expect((await token({ code })).status).toBe(200);
  });
});

describe("the fake vendor that issues its codes", () => {
  const [origin, redirectUri] = ["https://honest.example", "https://broker.example/callback"];
  const client = { clientId: "ours", clientSecret: "secret", redirectUri };
  const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
  const ask = (members: Record<string, string>): URL =>
    new URL(
      `${origin}/authorize?${new URLSearchParams({ client_id: "ours", redirect_uri: redirectUri, ...members }).toString()}`,
    );
  const redeem = (form: Record<string, string>, authorization = `Basic ${btoa("ours:secret")}`) => {
    const sent = new URLSearchParams({ redirect_uri: redirectUri, code_verifier: VERIFIER, ...form });
    const about = { method: "POST", path: "/token", query: new URLSearchParams(), headers: { authorization } };
    return { ...about, body: sent.toString(), form: sent };
  };

  it("binds each to client, redirect URI and challenge, and answers with iss", async () => {
    const fake = createFakeVendor({ ...client, origin });
    const codeOf = (): string => {
      const back = fake.authorize(ask({ state: "s", code_challenge: CHALLENGE }), "alice");
      expect([back.searchParams.get("state"), back.searchParams.get("iss")]).toEqual(["s", origin]);
      return back.searchParams.get("code") ?? "";
    };
    const code = codeOf();
    const wrong = [redeem({ code }, "Basic other"), redeem({ code: codeOf(), code_verifier: "w" })];
    const statuses = [
      ...wrong,
      redeem({ code: codeOf(), redirect_uri: origin }),
      redeem({ code: fakeCode("alice") }),
      redeem({ code }),
      redeem({ code }),
    ].map(async (request) => (await fake.answer(request)).status ?? 200);
    expect(await Promise.all(statuses)).toEqual([401, 400, 400, 400, 200, 400]);
    expect(fake.tokens.map(ownerOf)).toEqual(["alice", undefined]);
    expect(() => fake.authorize(ask({ client_id: "another" }), "alice")).toThrow("unknown client_id");
    expect(() => fake.authorize(ask({ redirect_uri: origin }), "alice")).toThrow("not registered");
  });

  it("does what its options say in place of that", async () => {
    const fake = createFakeVendor({
      ...client,
      origin,
      authorize: (url) => url,
      token: () => ({ status: 418 }),
      paths: { "/else": () => ({ body: { a: 1 } }) },
    });
    expect(fake.authorize(ask({}), "alice").pathname).toBe("/authorize");
    expect(await fake.answer(redeem({}))).toEqual({ status: 418 });
    expect(await fake.answer({ ...redeem({}), path: "/else" })).toEqual({ body: { a: 1 } });
    expect([fake.requests("/token"), fake.tokenRequests.length]).toEqual([1, 1]);
  });
});
