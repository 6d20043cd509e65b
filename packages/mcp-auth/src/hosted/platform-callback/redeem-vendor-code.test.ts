import { REFLECTED, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { CALLBACK, form, openOpenIdFixture, VERIFIER } from "../../testing/hosted-fixture.ts";

const fixture = shared(openOpenIdFixture);

const CODE = form({ grant_type: "authorization_code", code: "c", redirect_uri: CALLBACK, code_verifier: VERIFIER });
const post = async (body: string, headers: Record<string, string> = {}) => {
  const answer = await fixture.request("/token", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body,
  });
  const { error } = (await answer.json()) as { error?: string };
  return {
    status: answer.status,
    error,
    authenticate: answer.headers.get("www-authenticate"),
    headers: answer.headers,
  };
};

describe("bar#AS-20 the token endpoint takes a form of a public client, and nothing else", () => {
  const basic = { authorization: `Basic ${Buffer.from("platform:").toString("base64")}` };

  it("refuses GET", async () => {
    const answer = await fixture.request(`/token?${CODE.toString()}&client_id=platform`);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    // The query is not read: without a body there are no parameters.
    const posted = await fixture.request(`/token?${CODE.toString()}&client_id=platform`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(await posted.json()).toMatchObject({ error: "invalid_request" });
  });

  it.each([
    ["JSON", "{}", { "content-type": "application/json" }, 415, "invalid_request"],
    ["a parameter twice", `${CODE.toString()}&client_id=platform&client_id=platform`, {}, 400, "invalid_request"],
    ["no client", CODE.toString(), {}, 400, "invalid_request"],
    [
      "credentials in two places",
      `${CODE.toString()}&client_id=platform&client_secret=s`,
      basic,
      400,
      "invalid_request",
    ],
    ["no grant_type", "client_id=platform", {}, 400, "invalid_request"],
    ["another grant", "client_id=platform&grant_type=password", {}, 400, "unsupported_grant_type"],
    [
      "no such grant",
      `client_id=platform&grant_type=${encodeURIComponent(REFLECTED)}`,
      {},
      400,
      "unsupported_grant_type",
    ],
    ["no body", "", {}, 400, "invalid_request"],
  ])("%s", async (_what, body, headers, status, error) => {
    expect(await post(body, headers)).toMatchObject({ status, error });
  });

  it.each([
    ["an unknown client", `${CODE.toString()}&client_id=another`, {}],
    ["Basic", `${CODE.toString()}&client_id=platform`, basic],
    ["an unregistered secret", `${CODE.toString()}&client_id=platform&client_secret=s`, {}],
    ["an assertion", `${CODE.toString()}&client_id=platform&client_assertion=e30.e30.e30`, {}],
  ])("rfc6749#3.2.1 %s is invalid_client", async (_what, body, headers) => {
    const answer = await post(body, headers);
    expect(answer).toMatchObject({ status: 401, error: "invalid_client" });
    expect(answer.authenticate).toMatch("authorization" in headers ? /^Basic / : /^Bearer /);
  });
});

it("bar#AS-14 bar#AS-16 a refresh that the platform can correct spends nothing", async () => {
  const { body } = await fixture.connect();
  const asked = { client_id: "platform", grant_type: "refresh_token", refresh_token: body["refresh_token"] };
  for (const [changes, error] of [
    [{ refresh_token: body["access_token"] }, "invalid_grant"],
    [{ scope: "api:read admin" }, "invalid_scope"],
    [{ resource: "https://other.example" }, "invalid_target"],
    [{ client_id: "another" }, "invalid_client"],
    [{ client_id: undefined }, "invalid_request"],
    [{ client_secret: "x" }, "invalid_client"],
  ] as const) {
    expect(await post(form({ ...asked, ...changes }).toString())).toMatchObject({ error });
  }
  expect((await fixture.refresh(body["refresh_token"])).status).toBe(200);
});

describe("the answer", () => {
  it("rfc6749#5.1 is ours, typed, with the scope the vendor granted, and is not cacheable", async () => {
    const { code } = await fixture.consent({ scope: "api:read" });
    const { status, headers, body } = await fixture.token({ code });
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(Object.keys(body).toSorted()).toEqual([
      "access_token",
      "expires_in",
      "refresh_token",
      "scope",
      "token_type",
    ]);
    // The ID token identifies the user, so openid is requested whatever the client requests.
    expect(body).toMatchObject({ token_type: "Bearer", scope: "openid api:read" });
  });
});

it("bar#VR-3 a vendor without PKCE is tied to the verifier by the nonce of its ID token", async () => {
  await using plain = await openOpenIdFixture({ entry: { pkce: "none" }, provider: { pkceRequired: false } });
  const sent = new URL((await plain.authorize()).headers.get("location") ?? "").searchParams;
  expect([sent.has("nonce"), sent.has("code_challenge")]).toEqual([true, false]);
  const { code } = await plain.consent();
  const wrong = await plain.token({ code, code_verifier: "w".repeat(43) });
  expect([wrong.status, wrong.body["error"]]).toEqual([400, "invalid_grant"]);
  expect((await plain.connect()).status).toBe(200);
});
