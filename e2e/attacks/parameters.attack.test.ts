/**
 * Attacker: a platform's user whose text becomes part of a pushed request, and anyone who can open
 * our callback. Goal: a parameter that the broker and the vendor read differently, an invalid
 * challenge, or a smuggled value. Defence: requests are read once and strictly (parseParameters),
 * PKCE #1 is S256 (requireS256Challenge), and a caller cannot use the broker's parameter names,
 * however spelt (isReservedAuthorizationParameter).
 */
import * as pkceModule from "../../packages/oauth-core/src/protocol/pkce.ts";
import * as parametersModule from "../../packages/oauth-core/src/protocol/parameters.ts";
import { describe, expect, it, vi } from "vitest";
import { CALLBACK, type Exchange, FORM, HONEST, VENDOR_CLIENT } from "./support/names.ts";
import { expectRefusalPage, without } from "./support/outcomes.ts";
import { type Form, locationOf, openScene } from "./support/actors.ts";
import { createSeeded } from "../support/seeded.ts";

const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

describe("bar#ST-3 an invalid challenge", () => {
  const WRONG: Readonly<Record<string, Form>> = Object.fromEntries([
    ["missing", { code_challenge: undefined }],
    ["empty", { code_challenge: "" }],
    ["without a method, which means plain", { code_challenge_method: undefined }],
    ["plain", { code_challenge_method: "plain" }],
    ["s256", { code_challenge_method: "s256" }],
    ["an unknown method", { code_challenge_method: "S512" }],
    ["42 characters", { code_challenge: CHALLENGE.slice(1) }],
    ["44 characters", { code_challenge: `${CHALLENGE}A` }],
    ["129 characters", { code_challenge: "A".repeat(129) }],
    ["padded", { code_challenge: `${CHALLENGE.slice(0, 42)}=` }],
    ["standard base64", { code_challenge: CHALLENGE.replace("-", "+") }],
    ["a line break", { code_challenge: `${CHALLENGE}\n` }],
    ["all missing", { code_challenge: undefined, code_challenge_method: undefined }],
  ]);

  it("is refused, and nothing is stored", async () => {
    const { fixture, backend } = await openScene();
    const created = vi.spyOn(fixture.broker.deps.records, "create");
    for (const [what, form] of Object.entries(WRONG)) {
      const refused = { status: 400, body: { error: "invalid_request" } };
      expect(await backend.par(form), what).toMatchObject(refused);
    }
    expect(created).not.toHaveBeenCalled();
  });

  it("bar#ST-3 twin: without requireS256Challenge a flow starts with plain, and with nothing", async () => {
    const { backend } = await openScene();
    without(pkceModule, () => ({ requireS256Challenge: (codeChallenge) => codeChallenge ?? "" }));
    for (const form of [{ code_challenge_method: "plain" }, { code_challenge: undefined }]) {
      expect((await backend.par(form)).status).toBe(201);
    }
  });
});

const OURS = `client_id redirect_uri response_type response_mode state nonce scope code_challenge code_challenge_method
  request request_uri iss`.split(/\s+/);

/** How some servers read a name: without case, as PHP does, or in C up to a NUL. */
function asRead(name: string): string {
  const c = name.split("\0")[0] ?? "";
  return c.trim().toLowerCase().replace(/\[.*$/s, "").replace(/[. ]/g, "_");
}

const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.replace("_", "."),
  (name) => name.replace("_", " "),
  (name) => ` ${name}`,
  (name) => `${name}[]`,
  (name) => `${name}[0]`,
  (name) => `${name}\t`,
  // Where servers written in C stop reading.
  (name) => `${name}\0x`,
];

describe("bar#ST-4 parameters of ours among the caller's", () => {
  it("refuses them in every spelling, and nothing is stored", async () => {
    const { fixture, backend } = await openScene();
    const created = vi.spyOn(fixture.broker.deps.records, "create");
    for (const name of OURS.flatMap((ours) => SPELLINGS.map((spelt) => spelt(ours)))) {
      const vendor_params = JSON.stringify({ [name]: "https://evil.example/" });
      const refused = { status: 400, body: { error: "invalid_request" } };
      expect(await backend.par({ vendor_params }), JSON.stringify(name)).toMatchObject(refused);
    }
    expect(created).not.toHaveBeenCalled();
  });

  it("sends the vendor each parameter exactly once, and the broker's own unchanged", async () => {
    const { fixture, backend } = await openScene();
    const seeded = createSeeded(4);
    const names = [...OURS, ..."access_type audience prompt acr_values a&b x=y # é __proto__ <b>".split(" ")];
    const values = [..." x https://evil.example/?a=b&state=c &state=evil # %26state%3Devil \u2028 é".split(" "), "+ +"];
    let sent = 0;
    for (let round = 0; round < 160; round += 1) {
      const chosen = Array.from({ length: 1 + seeded.below(4) }, () => [
        seeded.happens(50) ? seeded.pick(names.slice(OURS.length)) : seeded.pick(SPELLINGS)(seeded.pick(names)),
        seeded.pick(values),
      ]);
      const { status, body } = await backend.par({ vendor_params: JSON.stringify(Object.fromEntries(chosen)) });
      if (status === 400) continue;
      const startUrl = backend.startUrl({ requestUri: String(body["request_uri"]) });
      expectOursOnce(locationOf(await fixture.request(startUrl)));
      sent += 1;
    }
    expect(sent).toBeGreaterThan(15);
  });

  it("bar#ST-4 twin: without isReservedAuthorizationParameter the attacker's request is fetched", async () => {
    const { fixture, backend } = await openScene();
    without(parametersModule, () => ({ isReservedAuthorizationParameter: () => false }));
    const vendor_params = JSON.stringify({
      request_uri: "https://evil.example/request",
      "redirect.uri": "https://evil.example",
    });
    const url = locationOf(await fixture.request(backend.startUrl(await backend.push({ vendor_params }))));
    expect(url.searchParams.get("request_uri")).toBe("https://evil.example/request");
    expect(() => expectOursOnce(url)).toThrow(/to be 'client_id code_challenge/);
  });
});

function expectOursOnce({ origin, pathname, search, searchParams, hash }: URL): void {
  const query = search.slice(1).split("&");
  const names = query.map((pair) => decodeURIComponent(pair.split("=")[0] ?? ""));
  expect(new Set(names).size).toBe(names.length);
  const ours = names.map(asRead).filter((name) => OURS.includes(name));
  expect(ours.toSorted().join(" ")).toBe(
    "client_id code_challenge code_challenge_method redirect_uri response_type scope state",
  );
  expect([`${origin}${pathname}`, hash]).toEqual([`${HONEST}/authorize`, ""]);
  expect(searchParams.get("redirect_uri")).toBe(CALLBACK);
  expect(searchParams.get("client_id")).toBe(VENDOR_CLIENT.clientId);
}

describe("bar#VR-10 resource", () => {
  it("is an absolute URI without fragment, and reaches the vendor as it was given", async () => {
    const { fixture, backend } = await openScene();
    const wrong = "api /api //api.example https://api.example/#part https://api.example/# https://";
    for (const resource of wrong.split(" ")) {
      expect(await backend.par({ resource })).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    }
    const resource = "https://api.example/v1?tenant=a&b=c";
    const started = await fixture.request(backend.startUrl(await backend.push({ resource })));
    expect(locationOf(started).searchParams.getAll("resource")).toEqual([resource]);
  });
});

describe("bar#HT-3 a parameter given twice", () => {
  const twice = (name: string): string => `${name}=a&${name}=b`;
  const inOtherForms = (name: string): string[] => [
    `${name}=a&${name}=a`,
    `${name}=a&${name}=`,
    `${name}&${name}=a`,
    `${name}=a&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=b`,
  ];

  it("is refused wherever parameters are read, known or not", async () => {
    const { fixture, backend } = await openScene();
    const names = "redirect_uri client_id state code vendor grant_type request_uri unknown __proto__".split(" ");
    const answers: Exchange[] = [];
    for (const query of [...names.map(twice), ...inOtherForms("redirect_uri")]) {
      for (const path of ["/v1/par", "/v1/token", "/v1/revoke", "/v1/check", "/v1/explain", "/v1/callback"]) {
        answers.push(await fixture.request(path, { method: "POST", headers: FORM, body: query }));
      }
      for (const path of ["/v1/authorize", "/v1/callback"]) answers.push(await fixture.request(`${path}?${query}`));
    }
    expect(answers.filter(({ status }) => status !== 400)).toEqual([]);
    expect(answers.filter(({ body }) => !body.includes("invalid_request"))).toEqual([]);
    expect((await backend.par()).status).toBe(201);
  });

  it("changes no prototype: names of objects are names", async () => {
    const { fixture, backend } = await openScene();
    const before = Reflect.ownKeys(Object.prototype);
    const nasty = `__proto__ constructor prototype __proto__.polluted constructor.prototype.polluted
      a[__proto__][polluted] toString`;
    for (const name of nasty.split(/\s+/)) {
      expect((await backend.par({ [name]: "polluted" })).status).toBe(201);
      await backend.par({ vendor_params: `{${JSON.stringify(name)}:"polluted"}` });
      await backend.par({ vendor_params: `{"a":{${JSON.stringify(name)}:"polluted"}}` });
      await fixture.request(`/v1/callback?${encodeURIComponent(name)}=polluted`);
    }
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
  });

  it("bar#HT-3 twin: without parseParameters' refusal two layers read different redirect_uri", async () => {
    const { fixture, backend } = await openScene();
    const flow = await backend.push();
    const twice = `${backend.startUrl(flow).href}&request_uri=evil&request_uri=${encodeURIComponent(flow.requestUri)}`;
    expectRefusalPage(await fixture.request(twice), "invalid_request");
    without(parametersModule, ({ parseParameters }) => ({
      parseParameters: (encoded) =>
        parseParameters(new URLSearchParams(Object.fromEntries(new URLSearchParams(encoded))).toString()),
    }));
    expect((await fixture.request(twice)).status).toBe(303);
  });
});
