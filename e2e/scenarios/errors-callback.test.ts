/**
 * GET and POST /v1/callback: an answer that cannot be trusted ends on a page, a trusted one goes to
 * the platform.
 */
import { createCookieJar } from "@oauth-broker/simulators";
import { expectErrorRedirect, expectPage } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { INITIATE_LOGIN_URI, OTHER_REDIRECT_URI, REDIRECT_URI } from "../support/configuration.ts";
import { type AtCallback, browse, createPlatform, encode, type Form, send } from "../support/platform.ts";
import { type Harness, startHarness } from "../support/harness.ts";
import { textMember } from "../support/text-member.ts";

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({
    clients: `  - client_id: proxied
    client_secret: proxied-secret-of-forty-three-characters-0000
    redirect_uris: [https://proxied.example/callback]
    browser_binding: platform`,
  });
});
afterAll(() => harness.close());

/** The vendor's answer, with members replaced; `undefined` removes one. */
function answerWith({ callback }: AtCallback, members: Form): URL {
  const url = new URL(callback);
  url.search = encode({ ...Object.fromEntries(callback.searchParams), ...members }).toString();
  return url;
}

const toPlatform = (at: AtCallback, error: string) => ({
  redirectUri: REDIRECT_URI,
  error,
  state: at.state,
  iss: harness.baseUrl,
});

describe("an answer that cannot be trusted", () => {
  it("without state is a page that leads to where the client begins", async () => {
    for (const query of ["", "?code=r3flect", "?state=", "?error=access_denied&error_description=r3flect"]) {
      const html = expectPage(await browse(`${harness.baseUrl}/v1/callback${query}`), 400, "state_missing");
      expect(html).toContain(`href="${INITIATE_LOGIN_URI}"`);
    }
  });

  it.each([
    ["bar#CB-1 refuses a state that is no JWT", () => "r3flect"],
    ["bar#CB-1 refuses a state without signature", (state: string) => state.replace(/\.[^.]*$/, ".")],
    [
      "bar#CB-1 refuses a state signed by another",
      (state: string) => `${state.slice(0, -2)}${state.endsWith("AA") ? "BB" : "AA"}`,
    ],
    ["bar#CB-1 refuses alg none", (state: string) => `eyJhbGciOiJub25lIn0.${state.split(".")[1]}.`],
    ["bar#CB-1 refuses a padded state", (state: string) => `${state}=`],
    ["bar#CB-1 refuses a state with a space", (state: string) => `${state} `],
    ["bar#CB-1 refuses a state of 9000 characters", (state: string) => state.padEnd(9000, "A")],
  ])("%s, and the flow goes on", async (_, forge) => {
    const at = await harness.platform.toCallback();
    const state = forge(at.callback.searchParams.get("state") ?? "");
    expectPage(await browse(answerWith(at, { state }), at.jar), 400, "state_invalid");
    expect((await browse(at.callback, at.jar)).status).toBe(303);
  });

  it("bar#CB-1 refuses a state twice", async () => {
    const at = await harness.platform.toCallback();
    expectPage(await browse(`${at.callback.href}&state=${at.callback.searchParams.get("state")}`, at.jar), 400);
    expect((await browse(at.callback, at.jar)).status).toBe(303);
  });

  it("bar#CB-3 refuses a replay", async () => {
    const at = await harness.platform.toCallback();
    const jar = at.jar.copy();
    expect((await browse(at.callback, at.jar)).status).toBe(303);
    for (const browser of [jar, at.jar]) {
      expect(expectPage(await browse(at.callback, browser), 400, "state_replayed")).toContain(at.flowId);
    }
  });

  it("bar#CB-7 refuses another browser, and the right one goes on", async () => {
    const at = await harness.platform.toCallback();
    const elsewhere = await harness.platform.toCallback();
    for (const browser of [undefined, elsewhere.jar]) {
      expect(expectPage(await browse(at.callback, browser), 400, "browser_mismatch")).toContain(at.flowId);
    }
    expect((await browse(at.callback, at.jar)).status).toBe(303);
  });

  it.each([
    ["another issuer", "https://r3flect.example"],
    ["an issuer with a trailing slash", undefined],
    ["an empty issuer", ""],
  ])("bar#CB-16 refuses %s and ends the flow", async (_, iss) => {
    const at = await harness.platform.toCallback();
    const wrong = iss ?? `${harness.vendor.issuer}/`;
    expectPage(await browse(answerWith(at, { iss: wrong }), at.jar), 400, "issuer_mismatch");
    expectPage(await browse(at.callback, at.jar), 400);
  });

  it("bar#CB-16 refuses no issuer where the vendor advertises one", async () => {
    const at = await harness.platform.toCallback();
    expectPage(await browse(answerWith(at, { iss: undefined }), at.jar), 400, "missing_issuer");
  });

  it("bar#CB-9 refuses an error of another issuer", async () => {
    const at = await harness.platform.toCallback();
    const forged = {
      code: undefined,
      error: "access_denied",
      error_description: "r3flect",
      iss: "https://r3flect.example",
    };
    expectPage(await browse(answerWith(at, forged), at.jar), 400, "issuer_mismatch");
  });

  it.each<[string, Form]>([
    ["neither code nor error", { code: undefined }],
    ["code and error", { error: "access_denied" }],
    ["a code of 8 kB", { code: "r3flect".repeat(1200) }],
    ["an access token beside the code", { access_token: "r3flect" }],
    ["an ID token beside the code", { id_token: "r3flect" }],
  ])("bar#CB-11 refuses %s", async (_, members) => {
    const at = await harness.platform.toCallback();
    expectPage(await browse(answerWith(at, members), at.jar), 400, "malformed_response");
  });

  it("bar#XA-1 refuses an answer on a path of its own", async () => {
    const at = await harness.platform.toCallback();
    const elsewhere = new URL(at.callback);
    elsewhere.pathname = "/v1/custom/c0ntext/callback";
    expectPage(await browse(elsewhere, at.jar), 400, "path_mismatch");
    expectPage(
      await browse(elsewhere, at.jar, { method: "POST", body: new URLSearchParams({ x: "y" }) }),
      400,
      "path_mismatch",
    );
    expect(
      harness.vendor.requests().filter(({ body }) => body["code"] === at.callback.searchParams.get("code")),
    ).toEqual([]);
  });

  it("bar#ST-7 refuses a state after 600 s, with the way back of its client", async () => {
    const at = await harness.platform.toCallback();
    harness.now.advance(600);
    const html = expectPage(await browse(at.callback, at.jar.copy()), 400);
    expect(html).toContain(`href="${INITIATE_LOGIN_URI}"`);
    expect(html).toContain("Back to The Platform");
  });

  it("leads back to the client's own site where it names no place to begin", async () => {
    const at = await harness.other.toCallback();
    const html = expectPage(await browse(at.callback), 400, "browser_mismatch");
    expect(html).toContain(`href="${new URL(OTHER_REDIRECT_URI).origin}/"`);
  });
});

describe("an error of the vendor", () => {
  it("is access_denied when the user really cancels, on either page", async () => {
    for (const decision of ["cancel", "cancel-sign-in"] as const) {
      const at = await harness.platform.toCallback({ decision, form: { prompt: "login consent" } });
      expectErrorRedirect(await browse(at.callback, at.jar), toPlatform(at, "access_denied"));
    }
  });

  it.each([
    ["access_denied", "access_denied"],
    ["user_cancelled_login", "access_denied"],
    ["user_cancelled_authorize", "access_denied"],
    ["user_denied", "access_denied"],
    ["consent_declined", "access_denied"],
    ["cancelled", "access_denied"],
    ["UserCancel", "access_denied"],
    ["user.cancelled", "access_denied"],
    ["consent_required", "access_denied"],
    ["temporarily_unavailable", "temporarily_unavailable"],
    ["invalid_scope", "invalid_scope"],
    ["invalid_client", "vendor_credentials_rejected"],
    ["unauthorized_client", "vendor_credentials_rejected"],
    ["server_error", "server_error"],
    ["application_suspended", "server_error"],
    ["uncancelled_thing", "server_error"],
  ])("%s becomes %s at the platform", async (vendorError, error) => {
    const at = await harness.platform.toCallback();
    const members = {
      code: undefined,
      error: vendorError,
      error_description: 'r3flect"<b>\r\nX: y',
      error_uri: "https://r3flect.example",
    };
    const answer = await browse(answerWith(at, members), at.jar);
    const query = expectErrorRedirect(answer, toPlatform(at, error));
    expect(query["vendor_error"]).toBe(vendorError);
    expect(query["credentials_source"]).toBe(error === "vendor_credentials_rejected" ? "shared" : undefined);
    expect(answer.headers.get("location")).not.toContain("r3flect");
    expectPage(await browse(at.callback, at.jar), 400, "state_replayed");
  });

  it("bar#CB-10 cuts an error code to what may travel", async () => {
    const at = await harness.platform.toCallback();
    const answer = await browse(answerWith(at, { code: undefined, error: `é"\\${"x".repeat(5000)}` }), at.jar);
    const query = expectErrorRedirect(answer, toPlatform(at, "server_error"));
    expect(query["vendor_error"]).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]{0,64}$/);
  });
});

describe("form_post", () => {
  it("bar#CB-12 becomes a GET of the same path, which then works", async () => {
    const at = await harness.platform.toCallback();
    const { origin, pathname, searchParams } = at.callback;
    // A cross-site POST of a browser carries no Lax cookie.
    const posted = await send(`${origin}${pathname}`, { method: "POST", body: new URLSearchParams(searchParams) });
    expect(posted.status).toBe(303);
    const location = new URL(posted.headers.get("location") ?? "", origin);
    expect(location.origin + location.pathname).toBe(`${origin}${pathname}`);
    expect((await browse(location, at.jar)).headers.get("location")).toContain("code=");
  });

  it("keeps an empty iss an empty one", async () => {
    const at = await harness.platform.toCallback();
    const body = new URLSearchParams(at.callback.searchParams);
    body.set("iss", "");
    const posted = await send(`${harness.baseUrl}/v1/callback`, { method: "POST", body });
    const location = new URL(posted.headers.get("location") ?? "", harness.baseUrl);
    expectPage(await browse(location, at.jar), 400, "issuer_mismatch");
  });

  it.each<[string, number, RequestInit]>([
    ["refuses JSON", 415, { body: '{"code":"r3flect"}', headers: { "content-type": "application/json" } }],
    ["refuses a body over the limit", 413, { body: new URLSearchParams({ code: "r3flect".repeat(20_000) }) }],
    [
      "refuses one that would not fit into a request line",
      400,
      { body: new URLSearchParams({ code: "r3flect".repeat(2000) }) },
    ],
    [
      "refuses a name twice",
      400,
      {
        body: new URLSearchParams([
          ["code", "r3flect"],
          ["code", "x"],
        ]),
      },
    ],
  ])("%s", async (_, status, init) => {
    expectPage(await send(`${harness.baseUrl}/v1/callback`, { method: "POST", ...init }), status);
  });
});

describe("methods", () => {
  it("answers 405 to HEAD and others, and spends nothing", async () => {
    const at = await harness.platform.toCallback();
    for (const method of ["HEAD", "PUT", "DELETE"]) {
      const answer = await browse(at.callback, at.jar, { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")).toBe("GET, POST");
    }
    expect((await browse(at.callback, at.jar)).status).toBe(303);
  });
});

describe("a client whose callback is proxied", () => {
  it("bar#CB-8 needs no cookie, and the verifier is the binding", async () => {
    const proxied = createPlatform({
      baseUrl: harness.baseUrl,
      clientId: "proxied",
      clientSecret: "proxied-secret-of-forty-three-characters-0000",
      redirectUri: "https://proxied.example/callback",
    });
    const at = await proxied.toCallback();
    const returned = new URL((await browse(at.callback, createCookieJar())).headers.get("location") ?? "");
    const flow = { code: returned.searchParams.get("code") ?? "", codeVerifier: at.codeVerifier };
    expect(textMember((await proxied.redeem(flow)).body, "vendor")).toBe("op");
  });
});
