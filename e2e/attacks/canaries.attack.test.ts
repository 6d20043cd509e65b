/**
 * A user or a tool puts a secret into the wrong field; an attacker later reads logs, screenshots
 * and error reports. Defence: no answer repeats what was sent, and the log has no field for it.
 * Each input of each path gets its own canary. Many lines of code enforce this and no single
 * function, so there is no twin.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BASE_URL, BASIC_FORM, type Exchange, FORM, PLATFORMS } from "./support/names.ts";
import { atCallback, encode, openScene, parameter } from "./support/actors.ts";

/** The values that each path may show: the ones that were sent in fields it may repeat. */
async function setUp() {
  const scene = await openScene({ config: { audit: "file:./audit.jsonl" } });
  const { fixture } = scene;
  const canaries = new Map<string, string>();
  const plant = (where: string, form: (canary: string) => string = (canary) => canary): string => {
    const canary = `canary${canaries.size}canary${"x".repeat(20)}`;
    canaries.set(canary, where);
    return form(canary);
  };
  const hits = (texts: readonly string[]): string[] => {
    const text = texts.join("\n").toLowerCase();
    return [...canaries].flatMap(([canary, where]) => (text.includes(canary) ? [where] : []));
  };
  const auditLines = (): string[] => {
    fixture.broker.deps.audit.close();
    return readFileSync(join(fixture.folder, "audit.jsonl"), "utf8").split("\n");
  };
  return { ...scene, auditLines, plant, hits };
}

function textsOf(exchanges: readonly Exchange[]): string[] {
  return exchanges.map(({ headers, body }) => `${JSON.stringify([...headers])}${body}`);
}

/** What each path reads: a valid request except for the one field that holds the canary. */
const FORMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "/v1/par": {
    client_id: "platform",
    response_type: "code",
    vendor: "honest",
    redirect_uri: PLATFORMS.platform.redirectUri,
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    response_mode: "query",
  },
  "/v1/token": {
    grant_type: "authorization_code",
    code: `${"A".repeat(22)}.${"A".repeat(43)}`,
    redirect_uri: PLATFORMS.platform.redirectUri,
    code_verifier: "A".repeat(43),
  },
  "/v1/token?refresh": {
    grant_type: "refresh_token",
    refresh_token: "unknown",
    vendor: "honest",
    connection: "",
    scope: "",
  },
  "/v1/revoke": { token: "unknown", token_type_hint: "refresh_token", vendor: "honest", connection: "" },
  "/v1/check": { access_token: "unknown", connection: "unknown", scope: "" },
  "/v1/explain": { vendor: "honest", redirect_uri: PLATFORMS.platform.redirectUri, connection: "" },
  "/register": { vendor: "honest" },
};
/** Sent on every path, in addition to the fields of the table. */
const EVERYWHERE =
  `client_secret client_assertion client_assertion_type vendor_client_id vendor_client_secret token_endpoint
  authorization_endpoint issuer placeholders request request_uri access_token id_token password secret unknown`.split(
    /\s+/,
  );
/** Fields that go to the vendor unchanged. */
const FOR_THE_VENDOR = ["state", "scope", "login_hint", "prompt", "resource"];
const HEADERS =
  "authorization cookie user-agent referer origin x-request-id x-forwarded-for traceparent accept content-type".split(
    " ",
  );

describe("bar#OB-2 a canary in every input", () => {
  it("of a backend stands in no answer, no line of the log and none of the audit stream", async () => {
    const { fixture, auditLines, plant, hits } = await setUp();
    for (const [path, form] of Object.entries(FORMS)) {
      const send = async (members: object, headers: object = {}): Promise<void> => {
        const sent = { ...BASIC_FORM, ...headers };
        await fixture.request(path, { method: "POST", headers: sent, body: encode({ ...form, ...members }) });
      };
      for (const name of [...Object.keys(form), ...EVERYWHERE]) {
        // /v1/explain shows on purpose which client we would be at the vendor.
        if (path === "/v1/explain" && name === "vendor_client_id") continue;
        await send({ [name]: plant(`${name} at ${path}`) });
        await send({ [name]: plant(`${name} at ${path} without credentials`) }, { authorization: "" });
        await send({ [name]: plant(`${name} at ${path}, as a URL`, (canary) => `https://evil.example/${canary}#x`) });
        await send({ [name]: plant(`${name} at ${path}, as JSON`, (canary) => `{"${canary}":{}}`) });
      }
      for (const name of HEADERS) await send({}, { [name]: plant(`header ${name} at ${path}`) });
      await send({}, { authorization: plant(`Basic at ${path}`, (canary) => `Basic ${btoa(`${canary}:${canary}`)}`) });
      await send({ [plant(`a name at ${path}`)]: "x" });
      const query = `${plant(`query name at ${path}`)}=${plant(`query at ${path}`)}`;
      const url = `${path}${path.includes("?") ? "&" : "?"}${query}`;
      await fixture.request(url, { method: "POST", headers: BASIC_FORM, body: encode(form) });
    }
    // What is meant for the vendor appears in the vendor's URL and nowhere earlier.
    for (const name of FOR_THE_VENDOR) {
      const value = plant(`${name} for the vendor`, (canary) =>
        name === "resource" ? `https://api.example/${canary}` : canary,
      );
      const body = encode({ ...FORMS["/v1/par"], [name]: value });
      await fixture.request("/v1/par", { method: "POST", headers: BASIC_FORM, body });
    }
    expect(hits(textsOf(fixture.exchanges))).toEqual([]);
    expect(hits(fixture.logLines)).toEqual([]);
    expect(hits(auditLines())).toEqual([]);
    expect(auditLines().length).toBeGreaterThan(500);
    expect(fixture.exchanges.length).toBeGreaterThan(500);
  });

  it("of a browser are on no page, in no redirect, log line or audit line", async () => {
    const { fixture, auditLines, backend, victim, plant, hits } = await setUp();
    const page = { accept: "text/html" };
    const paths = "/v1/authorize /v1/callback /v1/custom/x/callback / /nowhere /v1/vendors /metrics /readyz".split(" ");
    const names = "client_id request_uri code state iss error error_description error_uri unknown".split(" ");
    for (const path of paths) {
      for (const name of names) {
        const value = plant(`${name} at ${path}`);
        await fixture.request(`${path}?${name}=${value}`, { headers: page });
        await fixture.request(path, { method: "POST", headers: { ...page, ...FORM }, body: `x=${value}` });
      }
      for (const name of HEADERS)
        await fixture.request(path, { headers: { ...page, [name]: plant(`header ${name} at ${path}`) } });
      await fixture.request(`${path}/${plant(`path below ${path}`)}`, { headers: page });
      await fixture.request(`${path}?${plant(`query name at ${path}`)}`, { headers: page });
    }
    await fixture.request(`/v1/vendors/${plant("vendor id")}`, { headers: BASIC_FORM });
    const request_uri = (await backend.push()).requestUri;
    await fixture.request(
      `/v1/authorize?${encode({ request_uri, client_id: plant("client_id with a good request_uri") })}`,
    );

    // Uses its own flow, so that the request is processed as far as possible.
    for (const name of "code iss error_description error_uri unknown scope session_state id_token".split(" ")) {
      const { url } = await backend.start(victim, atCallback);
      url.searchParams.set(name, plant(`${name} in a flow`));
      if (name.startsWith("error")) {
        url.searchParams.delete("code");
        url.searchParams.set("error", "server_error");
      }
      const { url: back } = await victim.visit(url);
      if (name === "code") await backend.redeem(parameter(back, "code"), "A".repeat(43));
    }
    // A form_post is returned to the browser unchanged.
    const handedBack = ({ method, url }: Exchange): boolean =>
      method === "POST" && url.startsWith(`${BASE_URL}/v1/callback`);
    expect(hits(textsOf(fixture.exchanges.filter((exchange) => !handedBack(exchange))))).toEqual([]);
    expect(hits(fixture.logLines)).toEqual([]);
    expect(hits(auditLines())).toEqual([]);
    expect(auditLines().length).toBeGreaterThan(50);
    expect((await fixture.request("/metrics")).body).toContain("broker_refusals_total");
  });
});
