/**
 * GET /v1/authorize: a page until client and request_uri are known; a request that only looks
 * spends nothing.
 */
import { createCookieJar } from "@oauth-broker/simulators";
import { expectError, expectPage, REFLECTED } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { INITIATE_LOGIN_URI } from "../support/configuration.ts";
import { browse, encode, send } from "../support/platform.ts";
import { type Harness, startHarness } from "../support/harness.ts";

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const at = (query: string): string => `${harness.baseUrl}/v1/authorize?${query}`;
const HANDLE = `${"a".repeat(22)}.${"b".repeat(43)}`;

describe("GET /v1/authorize", () => {
  it.each([
    ["refuses a request without parameters", "", undefined],
    ["refuses no request_uri", "client_id=platform", undefined],
    ["refuses no client_id", `request_uri=urn:ietf:params:oauth:request_uri:${HANDLE}`, undefined],
    [
      "refuses a request_uri that the broker did not issue",
      "client_id=platform&request_uri=https://r3flect.example/r",
      "request_uri_unknown",
    ],
    [
      "refuses one that never was",
      `client_id=platform&request_uri=urn:ietf:params:oauth:request_uri:${HANDLE}`,
      "request_uri_unknown",
    ],
    [
      "refuses an unknown client",
      `client_id=r3flect&request_uri=urn:ietf:params:oauth:request_uri:${HANDLE}`,
      "request_uri_unknown",
    ],
    [
      "refuses a request that was not pushed",
      "client_id=platform&response_type=code&redirect_uri=https://r3flect.example/",
      undefined,
    ],
    ["bar#HT-3 refuses a repeated parameter", "client_id=platform&client_id=platform", undefined],
    ["bar#HT-4 refuses broken escapes", "client_id=%E0%A4%A&request_uri=x", undefined],
    ["bar#HT-4 refuses a NUL", "client_id=platform%00&request_uri=x", undefined],
    ["bar#HT-4 refuses a line break", "client_id=platform%0d%0ar3flect:1&request_uri=x", undefined],
  ])("%s with a page that leads back", async (_, query, reason) => {
    const html = expectPage(await browse(at(query)), 400, reason);
    expect(html).toContain(`href="${INITIATE_LOGIN_URI}"`);
  });

  it("refuses another client's request_uri, and the right client goes on", async () => {
    const pushed = await harness.platform.push();
    expectPage(await browse(at(encode({ client_id: "other", request_uri: pushed.requestUri }).toString())), 400);
    expect((await browse(harness.platform.authorizeUrl(pushed))).status).toBe(303);
  });

  it("bar#ST-7 refuses a request_uri after 300 s", async () => {
    const pushed = await harness.platform.push();
    harness.now.advance(300);
    expectPage(await browse(harness.platform.authorizeUrl(pushed)), 400, "request_uri_unknown");
  });

  it("rfc9126#2.2 gives the same browser the same redirect again, and another browser none", async () => {
    const pushed = await harness.platform.push();
    const jar = createCookieJar();
    const url = harness.platform.authorizeUrl(pushed);
    const first = await browse(url, jar);
    const again = await browse(url, jar);
    expect(first.status).toBe(303);
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expectPage(await browse(url, createCookieJar()), 400, "request_uri_used");
    expect((await browse(url, jar)).status).toBe(303);
  });

  it("ignores parameters beside the two, whatever they claim", async () => {
    const pushed = await harness.platform.push();
    const url = `${harness.platform.authorizeUrl(pushed)}&${encode({ redirect_uri: REFLECTED, state: REFLECTED, vendor: "x" }).toString()}`;
    const answer = await browse(url);
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).not.toContain("r3flect");
  });

  it("answers 405 to HEAD and others, a page to a POST that is not a form, and spends nothing", async () => {
    const pushed = await harness.platform.push();
    const url = harness.platform.authorizeUrl(pushed);
    const head = await send(url, { method: "HEAD" });
    expect(head.status).toBe(405);
    expect(head.headers.get("allow")).toBe("GET, POST");
    expect(head.headers.get("cache-control")).toBe("no-store");
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const answer = await browse(url, undefined, { method });
      expectPage(answer, 405);
      expect(answer.headers.get("allow")).toBe("GET, POST");
    }
    expectPage(await browse(url, undefined, { method: "POST" }), 415);
    expect((await browse(url)).status).toBe(303);
  });
});

describe("paths that do not exist", () => {
  it("answers JSON to a backend and a page to a browser", async () => {
    for (const path of ["/v2/par", "/v1", "/V1/authorize", "//v1/authorize", "/v1/token/r3flect"]) {
      expectError(await send(`${harness.baseUrl}${path}`), 404, "not_found");
      expectPage(await browse(`${harness.baseUrl}${path}`), 404);
    }
    // A visitor there is a browser, whatever its Accept header says.
    for (const path of ["/v1/authorize/", "/v1/callback/a", "/v1/callback/a/b", "/v1/custom/a"]) {
      expectPage(await send(`${harness.baseUrl}${path}`), 404);
    }
  });
});
