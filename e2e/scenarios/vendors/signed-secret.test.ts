/**
 * The catalogue's vendor whose client secret is a signed JWT and whose callback is a form: our key
 * is in broker.yaml, the vendor has the public half. A stub acts as the vendor, because the flow
 * needs none of its pages.
 */
import { generateKeyPairSync } from "node:crypto";
import {
  createCookieJar,
  type ScriptedAnswer,
  type ScriptedRequest,
  startScriptedVendor,
} from "@oauth-broker/simulators";
import { jwtVerify } from "jose";
import { expectError, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { brokerYaml, createSecrets } from "../../support/broker/configuration.ts";
import { freePort } from "../../support/free-port.ts";
import { startInProcessBroker } from "../../support/broker/in-process.ts";
import { type AtPlatform, browse, createPlatform, type Form, send } from "../../support/broker/platform.ts";
import { plantSecret } from "../../support/secrets.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const VENDOR = "apple";
const AUDIENCE = "https://appleid.apple.com";
const USER = JSON.stringify({ name: { firstName: "Ada" } });

const vendor = shared(() => startScriptedVendor({ "*": answerTo }));
const asked: Readonly<Record<string, string>>[] = [];

const harness = shared(async () => {
  const at = vendor.url;
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const secrets = createSecrets();
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  plantSecret("signing key", pem.split("\n")[1]);
  const yaml = brokerYaml({
    baseUrl,
    secrets,
    issuer: at,
    vendors: `
  ${VENDOR}:
    issuer: ${at}
    iss_required: false
    authorization_endpoint: ${at}/auth/authorize
    token_endpoint: ${at}/auth/token
    credentials: { client_id: com.example.service, team_id: TEAM123456, key_id: KEY1234567, private_key: ${JSON.stringify(pem)} }`,
  });
  const { close } = await startInProcessBroker(yaml);
  const own = { clientSecret: secrets.platform, vendor: VENDOR, scope: "name email" };
  return { baseUrl, platform: createPlatform({ baseUrl, ...own }), close };
});

async function answerTo(request: ScriptedRequest): Promise<ScriptedAnswer> {
  const form = Object.fromEntries(request.form);
  asked.push(form);
  plantSecret("signed client secret", form["client_secret"]);
  const isOurs = await jwtVerify(form["client_secret"] ?? "", publicKey, {
    algorithms: ["ES256"],
    issuer: "TEAM123456",
    subject: form["client_id"] ?? "",
    audience: AUDIENCE,
    maxTokenAge: "600s",
  }).then(
    ({ protectedHeader }) => protectedHeader.kid === "KEY1234567",
    () => false,
  );
  if (!isOurs) return { status: 400, body: { error: "invalid_client" } };
  const first = { access_token: "access-token-of-the-stub", token_type: "Bearer", expires_in: 3600 };
  const isCode = form["grant_type"] === "authorization_code";
  return { status: 200, body: isCode ? { ...first, refresh_token: "refresh-token-of-the-stub" } : first };
}

/** The browser's way to the vendor and back, when the vendor posts a form across sites. */
async function throughTheForm(form: Form = {}): Promise<Pick<AtPlatform, "code" | "codeVerifier">> {
  const { baseUrl, platform } = harness;
  const pushed = await platform.push(form);
  const jar = createCookieJar();
  const leaving = await browse(platform.authorizeUrl(pushed), jar);
  const there = new URL(leaving.headers.get("location") ?? "about:blank");
  expect(there.searchParams.get("response_mode")).toBe("form_post");
  const state = there.searchParams.get("state") ?? "";
  const body = new URLSearchParams({ code: "code-of-the-stub", state, user: USER });
  const posted = await send(`${baseUrl}/v1/callback`, { method: "POST", body });
  const back = await browse(new URL(posted.headers.get("location") ?? "", baseUrl), jar);
  const returned = new URL(back.headers.get("location") ?? "about:blank").searchParams;
  return { code: returned.get("code") ?? "", codeVerifier: pushed.codeVerifier };
}

describe("a vendor with signed client secrets", () => {
  it("is on, and connects: the secret is signed, and the form's data about the user is handed on", async () => {
    const { baseUrl, platform } = harness;
    expect((await send(`${baseUrl}/v1/vendors/${VENDOR}`)).body).toMatchObject({ enabled: true });
    const { status, body, text } = await platform.redeem(await throughTheForm());
    expect(status, text).toBe(200);
    expect(body).toMatchObject({ vendor: VENDOR, refresh_token: expect.any(String), vendor_data: { user: USER } });
    const granted = { refreshToken: String(body["refresh_token"]), connection: String(body["connection"]) };
    const refreshed = await platform.refresh(granted);
    expect(refreshed.body).toMatchObject({ token_type: "Bearer", vendor: VENDOR });
    const [first, second] = asked.slice(-2).map((one) => one["client_secret"]);
    expect(first).not.toBe(second);
  });

  it("is explained without the key", async () => {
    const { body, text } = await harness.platform.post("/v1/explain", { vendor: VENDOR, scope: "name" });
    expect(body["credentials"]).toMatchObject({ source: "shared", client_secret: "[signed for each request]" });
    expect(text).not.toContain("KEY1234567");
  });

  it("takes the caller's own secret unchanged, and reports whose it was when it is refused", async () => {
    const own = { vendor_client_id: "com.example.theirs", vendor_client_secret: "their.own.jwt" };
    plantSecret("vendor secret", own.vendor_client_secret);
    const answer = await harness.platform.redeem(await throughTheForm(own));
    expectError(answer, 400, "vendor_credentials_rejected");
    expect(answer.body["credentials_source"]).toBe("byoc");
    expect(asked.at(-1)).toMatchObject({ client_id: "com.example.theirs", client_secret: "their.own.jwt" });
  });
});
