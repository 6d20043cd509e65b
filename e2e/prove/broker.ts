/**
 * The broker with one vendor of its registry, in this process: the app, its vendor client and its
 * egress are the real ones. Requests go to the app without sockets, to the vendor over loopback.
 */
import { createHash, createPrivateKey, type KeyObject } from "node:crypto";
import { createBroker } from "@oauth-broker/broker/src/app.ts";
import type { Config, VendorConfig } from "@oauth-broker/broker/src/config-types.ts";
import { confidentialClient, memoryConfig } from "@oauth-broker/broker/src/testing/memory-config.ts";
import { type Clock, Secret } from "@oauth-broker/oauth-core";
import type { Egress } from "@oauth-broker/oauth-core/egress";
import type { RegistryEntry } from "@oauth-broker/oauth-core/registry";
import { readAnswer } from "@oauth-broker/oauth-core/testing";
import { createLog } from "@oauth-broker/service";
import { driveConsent } from "@oauth-broker/simulators";
import { type Entry, keyPair } from "@oauth-broker/simulators/entry-vendor";
import {
  type Answer,
  basic,
  challengeOf,
  createPlatform,
  type Form,
  type Platform,
} from "../support/broker/platform.ts";

export const ISSUER = "https://broker.prove-vendors.com";
const PLATFORM = "https://platform.prove-vendors.com/cb";
const CLIENT_SECRET = "s".repeat(43);
// As printed in rfc7636 appendix B.
const CODE_VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/** Our credentials at the vendor, and the vendor's side of them. */
export type ProofClient = ReturnType<typeof createClient>;
/**
 * @param redirectUri the broker's callback
 * @param kind `certificate` if the vendor takes one instead of a secret; `byoc`: the platform's
 *   own
 * @returns `form`: parameters that send the credentials with each request, for vendors that an organization hosts
 */
export function createClient({ facts }: Entry, redirectUri: string, kind: "secret" | "certificate" | "byoc") {
  const clientId = "our.client-id_7";
  // Characters that the form encoding of Basic changes.
  const clientSecret = "our secret/+7~:%";
  const base = { clientId, clientSecret, redirectUri };
  if (facts.clientSecret !== undefined) {
    const { publicKey, privateKey } = keyPair(facts.clientSecret.alg);
    const names = { teamId: "TEAM", keyId: "KEY" };
    const credentials = { id: "own", source: "shared", clientId, signingKey: { ...names, privateKey } } as const;
    return { credentials, atVendor: { ...base, secretKey: { ...names, key: publicKey } }, form: {} };
  }
  if (kind === "certificate") {
    const { publicKey, privateKey } = keyPair("PS256");
    const thumbprint = createHash("sha256").update("certificate").digest("base64url");
    const certificate = { privateKey: copyOf(privateKey), thumbprint };
    const credentials = { id: "own", source: "shared", clientId, certificate } as const;
    return { credentials, atVendor: { ...base, certificate: { key: publicKey, thumbprint } }, form: {} };
  }
  const credentials = { id: "own", source: "shared", clientId, clientSecret: new Secret(clientSecret) } as const;
  // If the vendor takes none: a secret that a client sends would be sent all the same.
  const own = facts.tokenEndpointAuthMethod === "none" ? {} : { vendor_client_secret: clientSecret };
  const form = kind === "byoc" ? { vendor_client_id: clientId, ...own } : {};
  return { credentials, atVendor: base, form: Object.freeze(form) };
}

/** `toCryptoKey` of a key object that another algorithm has used is refused. */
function copyOf(key: KeyObject): KeyObject {
  return createPrivateKey(key.export({ format: "pem", type: "pkcs8" }));
}

/** The broker for one vendor, and its platform, which names the credentials in each request that takes them. */
export type ProofBroker = Awaited<ReturnType<typeof startProofBroker>>;
/**
 * @param copy the registry's entry as this broker has it: perhaps a wrong copy
 * @param egress is not closed
 */
export async function startProofBroker(
  copy: RegistryEntry,
  client: ProofClient,
  { now, egress }: { readonly now: Clock; readonly egress: Egress },
) {
  const log = createLog({ write: () => undefined });
  const { fetch, fetchUntrusted } = egress;
  const options = { now, log, egress: { fetch, fetchUntrusted, close: async () => undefined } };
  const { app, deps } = await createBroker(configuration(copy, client), options);
  await deps.keyset.load();
  const ask = async (url: string, init?: RequestInit): Promise<Answer> => readAnswer(await app.request(url, init));
  const platform = createPlatform({
    baseUrl: ISSUER,
    clientSecret: CLIENT_SECRET,
    redirectUri: PLATFORM,
    scope: null,
    send: ask,
  });
  return {
    deps,
    post: platform.post,
    par: (form: Form) => platform.par({ code_challenge: challengeOf(CODE_VERIFIER), ...form }),
    register: (vendor: string) =>
      ask(`${ISSUER}/register`, {
        method: "POST",
        headers: { authorization: basic("platform", CLIENT_SECRET), "content-type": "application/json" },
        body: JSON.stringify({ vendor }),
      }),
    /** @returns what `/v1/vendors/{id}` says */
    view: async (vendor: string) => (await ask(`${ISSUER}/v1/vendors/${vendor}`)).body,
    /**
     * The user's browser, from a pushed request past the vendor to the platform.
     * @throws Error that says which page was its last
     */
    browse: (requestUri: string) =>
      driveConsent(platform.authorizeUrl({ requestUri }), {
        stopAt: ({ href }) => href.startsWith(PLATFORM),
        send: (url, init) => {
          if (!url.startsWith(`${ISSUER}/`)) return fetch(url, init);
          // The vendor's page posts it: SameSite cookies stay with the browser.
          const isPosted = init.body instanceof URLSearchParams;
          return app.request(url, isPosted ? { ...init, headers: { accept: "text/html" } } : init);
        },
      }),
    redeem: (code: string) => platform.redeem({ code, codeVerifier: CODE_VERIFIER }, client.form),
    refresh: (tokens: Parameters<Platform["refresh"]>[0]) => platform.refresh(tokens, client.form),
  };
}

function configuration(copy: RegistryEntry, { credentials, form }: ProofClient): Config {
  const isOurs = Object.keys(form).length === 0;
  // As if an operator names the endpoint: then the broker asks it.
  const vendor: VendorConfig = { ...copy, credentials: isOurs ? [credentials] : [] };
  return memoryConfig({
    baseUrl: ISSUER,
    clients: [{ ...confidentialClient("platform", CLIENT_SECRET, PLATFORM), approvedVendors: [copy.vendor.id] }],
    vendors: new Map([[copy.vendor.id, vendor]]),
    limits: { parPerMinute: 0, explainPerMinute: 0, vendorCallsPerMinute: 0, bodyBytes: 65_536 },
    egress: { allowLoopback: false, allowCidrs: [], timeoutMs: 5_000 },
  });
}
