import { expect, it } from "vitest";
import { deriveCodeChallenge } from "../protocol/pkce.ts";
import type { ResolvedVendor } from "../registry/vendor.ts";
import { resolvedVendor } from "../testing/network/resolved-vendor.ts";
import { challengeFor, type FlowKeys, flowSecrets } from "./secrets.ts";

const KEY = keysOf(7);
const vendor = (fields: Partial<ResolvedVendor> = {}): ResolvedVendor =>
  resolvedVendor({ issuer: "https://v.example", ...fields });

it("bar#VR-1 bar#VR-3 derives verifier and nonce apart: the nonce does not reveal the verifier", () => {
  const { codeVerifier, nonce } = flowSecrets(KEY, "flow", vendor(), ["openid"]);
  const codeChallenge = challengeFor(vendor(), codeVerifier);
  expect(codeChallenge).toBe(deriveCodeChallenge(codeVerifier ?? ""));
  expect(nonce).toMatch(/^[\w-]{43}$/);
  expect(nonce).not.toBe(codeVerifier);
  expect(nonce).not.toBe(codeChallenge);
});

it("gives another flow and another key others, and the same flow the same", () => {
  const secrets = (key: FlowKeys, flowId: string) => flowSecrets(key, flowId, vendor(), ["openid"]);
  expect(secrets(KEY, "flow")).toEqual(secrets(KEY, "flow"));
  const all = [secrets(KEY, "flow"), secrets(KEY, "other"), secrets(keysOf(8), "flow")];
  expect(new Set(all.flatMap(({ codeVerifier, nonce }) => [codeVerifier, nonce])).size).toBe(6);
});

it("sends no nonce where no ID token is due, and no challenge where the vendor has no PKCE", () => {
  expect(flowSecrets(KEY, "flow", vendor(), ["read"])).not.toHaveProperty("nonce");
  const { issuer: _, ...withoutIssuer } = vendor();
  expect(flowSecrets(KEY, "flow", withoutIssuer, ["openid"])).not.toHaveProperty("nonce");
  expect(flowSecrets(KEY, "flow", vendor({ pkce: "none" }), [])).toEqual({});
  const plain = flowSecrets(KEY, "flow", vendor({ pkce: "plain" }), []);
  expect(challengeFor(vendor({ pkce: "plain" }), plain.codeVerifier)).toBe(plain.codeVerifier);
});

/** The broker has one key for both. */
function keysOf(byte: number): FlowKeys {
  return { pkce: Buffer.alloc(32, byte), nonce: Buffer.alloc(32, byte) };
}
