/**
 * An entry of the registry at a vendor that answers as it was witnessed: the product's own client,
 * and no socket.
 */
import { systemTimer } from "../../mechanics/system-timer.ts";
import type { JsonObject, JsonValue } from "../../ports.ts";
import { Secret } from "../../protocol/secret.ts";
import { REGISTRY } from "../../registry/registry.ts";
import type { RegistryEntry } from "../../registry/entry/registry-entry.ts";
import type { ResolvedVendor, VendorCredentials } from "../../registry/vendor.ts";
import {
  createVendorClient,
  expandVendor,
  hasIdTokens,
  type VendorClient,
  withClientId,
} from "../../vendor-client/index.ts";
import { fixedClock } from "../fixed-clock.ts";
import { newIdTokenKey, signIdToken } from "../id-tokens.ts";
import { sampleValues } from "./sample-values.ts";

/** An answer of the vendor. */
export interface ReplayedAnswer {
  readonly status?: number;
  readonly body: JsonValue;
}

/** What the vendor received. */
export interface ReplayedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
}

/** One entry, its client, and what it sent. */
export interface Replay {
  readonly vendor: ResolvedVendor;
  readonly client: VendorClient;
  readonly credentials: VendorCredentials;
  readonly received: readonly ReplayedRequest[];
  /** The answer to every request but the one for the vendor's keys. */
  readonly answer: (answer: ReplayedAnswer) => void;
  /** A token answer with an ID token that passes every check. */
  readonly withIdToken: (answer: JsonObject) => Promise<JsonObject>;
}

/** The nonce of replayed flows. */
export const REPLAYED_NONCE = "nonce-of-the-replay";
const CLIENT_ID = "our-client";
const NOW = 1_700_000_000;
const KEY = newIdTokenKey("RS256", "key-1");

/** @returns the entry, regardless of what is in the registry for it */
export function entryOf(id: string): RegistryEntry {
  const entry = REGISTRY.get(id);
  if (entry === undefined) throw new Error(`no entry ${id}`);
  return entry;
}

/** @param id of an entry with its own endpoints */
export function replayVendor(id: string): Replay {
  const vendor = storedVendor(entryOf(id));
  const received: ReplayedRequest[] = [];
  let answered: ReplayedAnswer = { status: 500, body: {} };
  const fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input);
    if (url.href === vendor.jwksUri) return Response.json({ keys: [KEY.publicJwk] });
    const request = new Request(url, { ...init, signal: null });
    received.push({ method: request.method, url, headers: request.headers, body: await request.text() });
    return Response.json(answered.body, { status: answered.status ?? 200 });
  };
  const credentials: VendorCredentials = {
    id: "1",
    source: "shared",
    clientId: CLIENT_ID,
    ...(vendor.tokenEndpointAuthMethod === "none" ? {} : { clientSecret: new Secret("our-secret-at-the-vendor") }),
  };
  return {
    vendor,
    client: createVendorClient({ fetch, timer: systemTimer, now: fixedClock(NOW), allowLoopback: false }),
    credentials,
    received,
    answer: (answer) => void (answered = answer),
    withIdToken: async (answer) => ({ ...answer, id_token: await idTokenOf(vendor, credentials) }),
  };
}

async function idTokenOf({ issuer }: ResolvedVendor, { clientId }: VendorCredentials): Promise<string> {
  const claims = { iss: issuer, sub: "user-1", aud: clientId, iat: NOW, exp: NOW + 600, nonce: REPLAYED_NONCE };
  return signIdToken(claims, KEY);
}

/** With the endpoints of the entry: no metadata was witnessed. */
function storedVendor({ vendor, placeholders }: RegistryEntry): ResolvedVendor {
  const named = withClientId(vendor, CLIENT_ID, placeholders);
  const { serverUrl: _server, ...filled } = expandVendor(named, sampleValues(placeholders), placeholders);
  const { authorizationEndpoint, tokenEndpoint } = filled;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined)
    throw new Error(`${vendor.id} has no endpoints of its own`);
  const keys = hasIdTokens(filled) ? { jwksUri: filled.jwksUri ?? "https://keys.replay.example/jwks" } : {};
  return { ...filled, ...keys, authorizationEndpoint, tokenEndpoint, issExpected: false };
}

/** @returns what fits a URL of a witness: a placeholder in it is any name */
export function templateOf(url: string): RegExp {
  const parts = url.split(/\{\w+\}/).map((part) => part.replaceAll(/[.?+*()]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join("[^/]+")}$`);
}
