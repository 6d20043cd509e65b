/** The lab's rows on keys and metadata: rotation, outages, and documents with faults. */
import { describe, expect, it } from "vitest";
import { newIdTokenKey } from "../testing/id-tokens.ts";
import type { Answer } from "../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../testing/network/vendor-lab.ts";
import { flowContextHash } from "./kept.ts";

const lab = labOfEachTest({ timeoutMs: 1_000 });

const NEW_KEY = newIdTokenKey("ES256", "new");
const NEWER_KEY = newIdTokenKey("ES256", "newer");

/** From now on the vendor signs with this key and publishes it alone. */
async function rotate(key: typeof NEW_KEY, { isPublished = true } = {}): Promise<void> {
  if (isPublished) lab.vendor.keys.splice(0, Infinity, key);
  await lab.vendor.grant({ key });
}

describe("keys", () => {
  it("V-28 come from the jwks_uri of the metadata, wherever that is", async () => {
    lab.vendor.describe({ jwks_uri: `${lab.vendor.issuer}/this-run/keys` });
    lab.vendor.answers.set("/this-run/keys", lab.vendor.answers.get("/jwks") ?? {});
    await expect(lab.redeem()).resolves.toHaveProperty("idToken");
    expect(lab.vendor.times("/jwks")).toBe(0);
  });

  it("V-33 may rotate between two logins", async () => {
    await lab.redeem();
    lab.clock.advance(300);
    await rotate(NEW_KEY);
    await expect(lab.redeem()).resolves.toHaveProperty("idToken");
    expect(lab.vendor.times("/jwks")).toBe(2);
  });

  it("V-34 bar#JW-1 may rotate right after we read them", async () => {
    await lab.redeem();
    await rotate(NEW_KEY);
    await expect(lab.redeem()).resolves.toHaveProperty("idToken");
    expect(lab.vendor.times("/jwks")).toBe(2);
  });

  it.each(["same", undefined])("bar#JW-1 may be replaced under the kid %s", async (kid) => {
    const newKey = (): typeof NEW_KEY => {
      const key = newIdTokenKey("ES256", "same");
      return { ...key, kid, publicJwk: { ...key.publicJwk, kid } } as typeof NEW_KEY;
    };
    await rotate(newKey());
    await lab.redeem();
    await rotate(newKey());
    await expect(lab.redeem()).resolves.toHaveProperty("idToken");
    await rotate(newKey(), { isPublished: false });
    await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
    expect(lab.vendor.times("/jwks")).toBe(2);
  });

  it("bar#JW-2 unknown ones are requested at most once in thirty seconds", async () => {
    await lab.redeem();
    await rotate(NEW_KEY, { isPublished: false });
    for (let count = 0; count < 5; count += 1) {
      await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
    }
    expect(lab.vendor.times("/jwks")).toBe(2);
    lab.clock.advance(29);
    await rotate(NEWER_KEY);
    await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
    lab.clock.advance(1);
    await expect(lab.redeem()).resolves.toHaveProperty("idToken");
    expect(lab.vendor.times("/jwks")).toBe(3);
  });

  it("are kept for ten minutes and asked for once however many want them", async () => {
    const vendor = await lab.resolve();
    const redeem = (): Promise<unknown> => lab.client.redeemCode(vendor, lab.vendor.credentials, lab.request);
    await Promise.all(Array.from({ length: 10 }, redeem));
    lab.clock.advance(599);
    await redeem();
    expect(lab.vendor.times("/jwks")).toBe(1);
    lab.clock.advance(1);
    await redeem();
    expect(lab.vendor.times("/jwks")).toBe(2);
  });

  it("bar#JW-4 are used for an hour when their endpoint is down, and no longer", async () => {
    const vendor = await lab.resolve();
    const redeem = async (): Promise<unknown> => {
      await lab.vendor.grant();
      return lab.client.redeemCode(vendor, lab.vendor.credentials, lab.request);
    };
    await redeem();
    lab.vendor.answers.set("/jwks", { status: 503 });
    lab.clock.advance(3599);
    await expect(redeem()).resolves.toHaveProperty("idToken");
    lab.clock.advance(1);
    await expect(redeem()).rejects.toMatchObject({ code: "temporarily_unavailable", extras: { retry: "restart" } });
  });

  it("bar#JW-4 that are refused are not replaced by older ones", async () => {
    const vendor = await lab.resolve();
    const redeem = (): Promise<unknown> => lab.client.redeemCode(vendor, lab.vendor.credentials, lab.request);
    await redeem();
    lab.vendor.answers.set("/jwks", { status: 200, body: { keys: "none" } });
    lab.clock.advance(601);
    await expect(redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it.each<[string, Answer]>([
    ["answer 503", { status: 503 }],
    ["drip", (response) => void response.writeHead(200, { "content-type": "application/json" }).write('{"keys":')],
    [
      "end half way",
      (response) => void response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy()),
    ],
  ])("V-58 bar#JW-4 that %s are an outage: the code is spent, the tokens are revoked", async (_title, answer) => {
    lab.vendor.answers.set("/jwks", answer);
    await expect(lab.redeem()).rejects.toMatchObject({ code: "temporarily_unavailable", extras: { retry: "restart" } });
    await expect.poll(() => lab.vendor.received.at(-1)).toMatchObject({ path: "/revoke", method: "POST" });
    expect(Object.fromEntries(lab.vendor.received.at(-1)?.form ?? [])).toEqual({
      token: "refresh-token-of-the-vendor",
      token_type_hint: "refresh_token",
    });
  });

  it("a revocation that fails or hangs changes nothing", async () => {
    lab.vendor.answers.set("/jwks", { status: 503 });
    lab.vendor.answers.set("/revoke", () => undefined);
    await expect(lab.redeem()).rejects.toMatchObject({ code: "temporarily_unavailable" });
    await expect.poll(() => lab.vendor.times("/revoke")).toBe(1);
  });

  it.each<[string, Answer]>([
    ["a bomb", { body: { keys: [{ kty: "RSA", n: "A".repeat(300_000) }] } }],
    ["HTML", { headers: { "content-type": "text/html" }, body: "<html></html>" }],
    ["no key set", { body: { hello: "world" } }],
    ["an array", { headers: { "content-type": "application/json" }, body: "[]" }],
    ["a set with a member twice", { headers: { "content-type": "application/json" }, body: '{"keys":[],"keys":[]}' }],
    ["101 keys", { body: { keys: Array.from({ length: 101 }, () => NEW_KEY.publicJwk) } }],
    ["404", { status: 404 }],
  ])("V-58 bar#JW-3 that are %s are refused", async (_title, answer) => {
    lab.vendor.answers.set("/jwks", answer);
    await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it("V-58 bar#EG-6 behind a redirect are not followed to", async () => {
    lab.vendor.answers.set("/jwks", { status: 302, headers: { location: `${lab.vendor.issuer}/latest/meta-data` } });
    await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
    expect(lab.vendor.times("/latest/meta-data")).toBe(0);
  });

  it("are found by discovery when an entry with endpoints has no jwks_uri", async () => {
    const { issuer } = lab.vendor;
    const entry = { authorizationEndpoint: `${issuer}/authorize`, tokenEndpoint: `${issuer}/token` };
    await expect(lab.redeem({ entry })).resolves.toHaveProperty("idToken");
    expect(lab.vendor.asked()).toEqual(["/.well-known/openid-configuration", "/token", "/jwks"]);
  });
});

describe("metadata", () => {
  it("V-27 is really read", async () => {
    lab.vendor.describe({ token_endpoint: `${lab.vendor.issuer}/elsewhere` });
    lab.vendor.answers.set("/elsewhere", lab.vendor.answers.get("/token") ?? {});
    await lab.redeem();
    expect(lab.vendor.times("/elsewhere")).toBe(1);
    expect(lab.vendor.times("/token")).toBe(0);
  });

  it("V-42 with mTLS aliases is used without them", async () => {
    lab.vendor.describe({ mtls_endpoint_aliases: { token_endpoint: `${lab.vendor.issuer}/mtls` } });
    await lab.redeem();
    expect(lab.vendor.times("/mtls")).toBe(0);
  });

  it("V-67 bar#DI-3 that changes between start and callback changes the connection context", async () => {
    const context = async (): Promise<string> =>
      flowContextHash({
        vendor: await lab.client.resolve(lab.vendor.entry),
        clientId: "a",
        credentialsId: "b",
        platformClientId: "c",
        redirectUri: "d",
      });
    const before = await context();
    lab.clock.advance(600);
    expect(await context()).toBe(before);
    lab.vendor.describe({ token_endpoint: `${lab.vendor.issuer}/another` });
    lab.clock.advance(600);
    expect(await context()).not.toBe(before);
  });
});
