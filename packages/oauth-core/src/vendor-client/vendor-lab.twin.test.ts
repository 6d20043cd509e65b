/**
 * The twin of the vendor-lab tests: with one named defence switched off, the same attack succeeds.
 */
import { describe, expect, it } from "vitest";
import { CLIENT_ID, SUBJECT } from "../testing/network/faulty-vendor.ts";
import { newIdTokenKey } from "../testing/id-tokens.ts";
import { type Lab, labOfEachTest } from "../testing/network/vendor-lab.ts";
import { weaken } from "../testing/weaken.ts";
import * as oauth from "oauth4webapi";
import * as idToken from "./id-token/checks.ts";
import * as issuers from "./issuer.ts";
import * as document from "./discovery/document.ts";

const off = {
  signature: () => weaken(idToken, () => ({ verifySignature: () => Promise.resolve() })),
  issuer: () => weaken(idToken, () => ({ requireIssuerClaim: () => {} })),
  audience: () => weaken(idToken, () => ({ requireAudience: () => {} })),
  times: () => weaken(idToken, () => ({ ageOf: () => "current" })),
  sameSubject: () => weaken(idToken, () => ({ requireSameSubject: () => {} })),
  accessTokenHash: () => weaken(idToken, () => ({ isOfAccessToken: () => true })),
  library: () =>
    weaken(oauth, () => ({
      processAuthorizationCodeResponse: async (_server, _client, response) =>
        (await response.json()) as oauth.TokenEndpointResponse,
    })),
};

const lab = labOfEachTest();

const FOREIGN = newIdTokenKey("RS256", "key-1");
const NOW = 1_700_000_000;

describe("without the defence the attack succeeds, with it it does not:", () => {
  it.each<[string, (keyof typeof off)[], Parameters<Lab["vendor"]["grant"]>[0]]>([
    ["V-57 the signature check", ["signature"], { key: FOREIGN }],
    ["V-16 the nonce check", ["library"], { claims: { nonce: "another" } }],
    [
      "V-3 the issuer check, ours and the library's",
      ["issuer", "library"],
      { claims: { iss: "https://honest.example" } },
    ],
    ["V-47 the check for further audiences", ["audience"], { claims: { aud: [CLIENT_ID, "another"], azp: CLIENT_ID } }],
    ["V-55 the age of iat", ["times"], { claims: { iat: NOW - 604_800 } }],
    ["V-22 at_hash", ["accessTokenHash"], { claims: { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" } }],
  ])("%s", async (_title, defences, changes) => {
    await lab.vendor.grant(changes);
    await expect(lab.redeem()).rejects.toMatchObject({ code: "vendor_response_invalid" });
    for (const defence of defences) off[defence]();
    await expect(lab.redeem()).resolves.toMatchObject({ idToken: { subject: SUBJECT } });
  });

  it("V-44 the iss of the callback", async () => {
    const request = { iss: "https://honest.example" };
    await expect(lab.redeem({ request })).rejects.toMatchObject({ code: "invalid_request" });
    weaken(issuers, () => ({ requireIssuer: () => {} }));
    await expect(lab.redeem({ request })).resolves.toHaveProperty("idToken");
  });

  it("V-39 the subject of a refreshed ID token", async () => {
    const request = { expected: { issuer: lab.vendor.issuer, subject: "user-0" } };
    await expect(lab.refresh({ request })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    off.sameSubject();
    await expect(lab.refresh({ request })).resolves.toMatchObject({ idToken: { subject: SUBJECT } });
  });

  it("the subject of an old ID token at a refresh, and its signature", async () => {
    const old = { iat: NOW - 90_000, exp: NOW - 86_400 };
    const request = { expected: { issuer: lab.vendor.issuer, subject: "user-0" } };
    await lab.vendor.grant({ claims: old });
    await expect(lab.refresh({ request })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    off.sameSubject();
    await expect(lab.refresh({ request })).resolves.not.toHaveProperty("idToken");
    await lab.vendor.grant({ claims: old, key: FOREIGN });
    await expect(lab.refresh({ request })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    off.signature();
    await expect(lab.refresh({ request })).resolves.not.toHaveProperty("idToken");
  });

  it("V-47 azp of a token for several audiences", async () => {
    await lab.vendor.grant({ claims: { aud: [CLIENT_ID, "another"] } });
    const entry = { additionalAudiences: true };
    await expect(lab.redeem({ entry })).rejects.toMatchObject({ code: "vendor_response_invalid" });
    off.audience();
    off.library();
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
    weaken(issuers, () => ({ isPinnedTenant: () => true }));
    await expect(lab.redeem({ entry })).resolves.toMatchObject({ idToken: { subject: SUBJECT } });
  });

  it("V-29 the issuer of metadata", async () => {
    lab.vendor.describe({ issuer: "https://honest.example" });
    await expect(lab.resolve()).rejects.toMatchObject({ code: "vendor_response_invalid" });
    weaken(document, () => ({ requireMetadataOf: () => Promise.resolve() }));
    await expect(lab.resolve()).resolves.toHaveProperty("tokenEndpoint");
  });
});
