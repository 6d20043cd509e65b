/**
 * Rows HT-6, HT-7 and HT-10 of the bar: no header, path or user agent changes the broker's own name
 * or what a caller may do.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokerYaml, REDIRECT_URI } from "../support/configuration.ts";
import { freePort } from "../support/free-port.ts";
import { FORM, type HttpBroker, startHttpBroker } from "../support/http-broker.ts";
import { startInProcessBroker } from "../support/in-process-broker.ts";
import { basic, createPlatform, encode, type Platform, send } from "../support/platform.ts";
import { exchange } from "../support/raw-http.ts";
import { textMember } from "../support/text-member.ts";

let broker: HttpBroker;
let port: number;
let platform: Platform;

beforeAll(async () => {
  broker = await startHttpBroker();
  port = broker.port;
  platform = createPlatform({ baseUrl: broker.baseUrl, clientSecret: broker.secrets.platform, vendor: "stub" });
});
afterAll(() => broker.close());

describe("bar#HT-6 forged names", () => {
  const FORGED = [
    "X-Forwarded-Host: attacker.example",
    "X-Forwarded-Proto: https",
    "X-Forwarded-For: 10.0.0.1",
    "X-Forwarded-Uri: /v1/vendors",
    "X-Original-URL: /v1/vendors",
    "Forwarded: host=attacker.example;proto=https",
  ];
  const forgedHead = (requestLine: string, ...headers: string[]): string =>
    [requestLine, "Host: attacker.example", ...FORGED, ...headers, "Connection: close", "", ""].join("\r\n");

  it("are in no answer: every URL comes from the configuration", async () => {
    const pushed = await platform.push();
    const { pathname, search } = new URL(platform.authorizeUrl(pushed));
    for (const path of ["/.well-known/oauth-authorization-server", "/openapi.json", "/", `${pathname}${search}`]) {
      const answer = await exchange({ port, bytes: forgedHead(`GET ${path} HTTP/1.1`) });
      expect([200, 303]).toContain(answer.status);
      expect(answer.text).not.toContain("attacker.example");
      expect([broker.baseUrl, encodeURIComponent(broker.baseUrl)].some((own) => answer.text.includes(own))).toBe(true);
    }
  });

  it("do not change where an answer goes", async () => {
    const answer = await exchange({ port, bytes: forgedHead("GET /v1/callback?state=x HTTP/1.1") });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain("attacker.example");
  });
});

describe("bar#HT-7 tricks with paths and agents", () => {
  it("reach no endpoint without authentication", async () => {
    const body = encode({ vendor: "stub", client_id: "platform", token: "x", grant_type: "refresh_token" });
    for (const route of ["/v1/par", "/v1/token", "/v1/revoke", "/v1/explain"]) {
      const tricks = [
        route,
        `${route}?`,
        `${route}/`,
        `${route};x=/healthz`,
        `${route}%2fhealthz`,
        `/${route}`,
        `${route}/../../healthz/..${route}`,
        route.toUpperCase(),
        `/healthz/..${route}`,
        `/healthz%2f..${route}`,
        `${route}?path=/healthz`,
        `/.${route}`,
        `${route}.json`,
        `${route}%00`,
      ];
      for (const path of tricks) {
        for (const agent of ["kube-probe/1.30", "ELB-HealthChecker/2.0", "GoogleHC/1.0"]) {
          const headers = [
            "Content-Length: ".concat(String(body.toString().length)),
            FORM,
            `User-Agent: ${agent}`,
            "Connection: close",
          ];
          const answer = await exchange({
            port,
            bytes: broker.head(`POST ${path} HTTP/1.1`, ...headers) + body.toString(),
          });
          expect([400, 401, 404, 405], `${path}: ${answer.text}`).toContain(answer.status);
        }
      }
    }
  });
});

describe("bar#HT-10 a deployment on https", () => {
  it("says so in every answer, and its cookie is for this host alone", async () => {
    const issuer = "https://broker.example.com";
    const listening = await freePort();
    const yaml = brokerYaml({
      baseUrl: issuer,
      secrets: broker.secrets,
      issuer: broker.stub.url,
      vendors: broker.vendors,
    });
    const secure = await startInProcessBroker(yaml, { env: { PORT: String(listening) } });
    const at = `http://127.0.0.1:${listening}`;
    const pushed = await send(`${at}/v1/par`, {
      method: "POST",
      headers: { authorization: basic("platform", broker.secrets.platform) },
      body: encode({
        client_id: "platform",
        response_type: "code",
        vendor: "stub",
        redirect_uri: REDIRECT_URI,
        code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        code_challenge_method: "S256",
      }),
    });
    const query = encode({ client_id: "platform", request_uri: textMember(pushed.body, "request_uri") });
    const left = await send(`${at}/v1/authorize?${query.toString()}`);
    expect(left.headers.get("set-cookie")).toMatch(
      /^__Host-flow-[\w-]{22}=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    for (const answer of [
      pushed,
      left,
      await send(`${at}/`),
      await send(`${at}/v1/callback`),
      await send(`${at}/none`),
    ]) {
      expect(answer.headers.get("strict-transport-security")).toMatch(/^max-age=\d{8,}/);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'; frame-ancestors 'none'");
      expect(answer.headers.has("x-powered-by")).toBe(false);
    }
    await secure.close();
  });
});
