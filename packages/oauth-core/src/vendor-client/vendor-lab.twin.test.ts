/**
 * The twin of the vendor-lab tests: with one named defence switched off, the same attack succeeds.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { CLIENT_ID, SUBJECT } from "../testing/network/faulty-vendor.ts";
import { newIdTokenKey } from "../testing/id-tokens.ts";
import { type Lab, labOfEachTest } from "../testing/network/vendor-lab.ts";
import type * as oauth from "oauth4webapi";
import type * as idToken from "./id-token/validate.ts";
import type * as issuer from "./issuer.ts";
import type * as document from "./discovery/document.ts";

const off = vi.hoisted(() => new Set<string>());
const unless = vi.hoisted(
  () =>
    <A extends unknown[], R>(name: string, defence: (...args: A) => R, instead: (...args: A) => R) =>
    (...args: A): R =>
      off.has(name) ? instead(...args) : defence(...args),
);

vi.mock("./id-token/validate.ts", async (original) => {
  const known = await original<typeof idToken>();
  return {
    ...known,
    verifySignature: unless("signature", known.verifySignature, () => Promise.resolve()),
    requireIssuerClaim: unless("issuer", known.requireIssuerClaim, () => undefined),
    requireAudience: unless("audience", known.requireAudience, () => undefined),
    ageOf: unless("times", known.ageOf, () => "current"),
    requireSameSubject: unless("same subject", known.requireSameSubject, () => undefined),
    isOfAccessToken: unless("at_hash", known.isOfAccessToken, () => true),
  };
});
vi.mock("oauth4webapi", async (original) => {
  const known = await original<typeof oauth>();
  return {
    ...known,
    processAuthorizationCodeResponse: unless(
      "library",
      known.processAuthorizationCodeResponse,
      async (_server, _client, response) => (await response.json()) as oauth.TokenEndpointResponse,
    ),
  };
});
vi.mock("./issuer.ts", async (original) => {
  const known = await original<typeof issuer>();
  return {
    ...known,
    requireIssuer: unless("callback issuer", known.requireIssuer, () => undefined),
    isPinnedTenant: unless("pinned tenant", known.isPinnedTenant, () => true),
  };
});
vi.mock("./discovery/document.ts", async (original) => {
  const known = await original<typeof document>();
  const loadMetadata: typeof known.loadMetadata = (issuer, deps) =>
    known.loadMetadata(issuer, deps, off.has("metadata issuer") ? () => Promise.resolve() : undefined);
  return { ...known, loadMetadata };
});

const lab = labOfEachTest();
afterEach(() => off.clear());

const FOREIGN = newIdTokenKey("RS256", "key-1");
const NOW = 1_700_000_000;

describe("without the defence the attack succeeds, with it it does not:", () => {
  it.each<[string, string[], Parameters<Lab["vendor"]["grant"]>[0]]>([
    ["V-57 the signature check", ["signature"], { key: FOREIGN }],
    ["V-16 the nonce check", ["library"], { claims: { nonce: "another" } }],
    [
      "V-3 the issuer check, ours and the library's",
      ["issuer", "library"],
      { claims: { iss: "https://honest.example" } },
    ],
    ["V-47 the check for further audiences", ["audience"], { claims: { aud: [CLIENT_ID, "another"], azp: CLIENT_ID } }],
    ["V-55 the age of iat", ["times"], { claims: { iat: NOW - 604_800 } }],
    ["V-22 at_hash", ["at_hash"], { claims: { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" } }],
  ])("%s", async (_title, defences, changes) => {
    await lab.vendor.grant(changes);
    await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
    for (const defence of defences) off.add(defence);
    await expect(lab.redeem()).resolves.toMatchObject({ idToken: { subject: SUBJECT } });
  });

  it("V-44 the iss of the callback", async () => {
    const request = { iss: "https://honest.example" };
    await expect(lab.redeem({ request })).rejects.toMatchObject({ code: "invalid_request" });
    off.add("callback issuer");
    await expect(lab.redeem({ request })).resolves.toHaveProperty("idToken");
  });

  it("V-39 the subject of a refreshed ID token", async () => {
    const request = { expected: { issuer: lab.vendor.issuer, subject: "user-0" } };
    await expect(lab.refresh({ request })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    off.add("same subject");
    await expect(lab.refresh({ request })).resolves.toMatchObject({ idToken: { subject: SUBJECT } });
  });

  it("the subject of an old ID token at a refresh, and its signature", async () => {
    const old = { iat: NOW - 90_000, exp: NOW - 86_400 };
    const request = { expected: { issuer: lab.vendor.issuer, subject: "user-0" } };
    await lab.vendor.grant({ claims: old });
    await expect(lab.refresh({ request })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    off.add("same subject");
    await expect(lab.refresh({ request })).resolves.not.toHaveProperty("idToken");
    await lab.vendor.grant({ claims: old, key: FOREIGN });
    await expect(lab.refresh({ request })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    off.add("signature");
    await expect(lab.refresh({ request })).resolves.not.toHaveProperty("idToken");
  });

  it("V-47 azp of a token for several audiences", async () => {
    await lab.vendor.grant({ claims: { aud: [CLIENT_ID, "another"] } });
    const entry = { additionalAudiences: true };
    await expect(lab.redeem({ entry })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    off.add("audience").add("library");
    await expect(lab.redeem({ entry })).resolves.toMatchObject({ idToken: { subject: SUBJECT } });
  });

  it("the tenant named beforehand", async () => {
    const [named, tid] = ["named", "other"];
    const issuer = `${lab.vendor.issuer}/{tid}/v2.0`;
    const entry = {
      issuer,
      issuerTemplate: { placeholder: "tid", claim: "tid", pattern: "[a-z]+", pinned: named },
      authorizationEndpoint: `${lab.vendor.issuer}/authorize`,
      tokenEndpoint: `${lab.vendor.issuer}/token`,
      jwksUri: `${lab.vendor.issuer}/jwks`,
    };
    await lab.vendor.grant({ claims: { iss: issuer.replace("{tid}", tid), tid } });
    await expect(lab.redeem({ entry })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    off.add("pinned tenant");
    await expect(lab.redeem({ entry })).resolves.toMatchObject({ idToken: { subject: SUBJECT } });
  });

  it("V-29 the issuer of metadata", async () => {
    lab.vendor.describe({ issuer: "https://honest.example" });
    await expect(lab.resolve()).rejects.toMatchObject({ code: "vendor_response_invalid" });
    off.add("metadata issuer");
    await expect(lab.resolve()).resolves.toHaveProperty("tokenEndpoint");
  });
});
