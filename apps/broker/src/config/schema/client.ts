/**
 * One entry of `clients`: a backend, how it authenticates, and its redirect URIs.
 */
import { createHash } from "node:crypto";
import type { usableKeys } from "@oauth-broker/oauth-core/vendor-client";
import {
  type EncryptedResponse,
  checkRedirectUri,
  RESPONSE_ENCRYPTION_ALGS,
  RESPONSE_ENCRYPTION_ENCS,
} from "@oauth-broker/oauth-core/authorization-server";
import { matching } from "@oauth-broker/oauth-core";
import { checkClientId, checkName } from "@oauth-broker/service/configuration";
import type { z } from "zod";
import { checkPublicKeys, readKeySet } from "./public-keys.ts";
import {
  choice,
  type FieldMeta,
  flag,
  listOf,
  oneOrList,
  secretText,
  section,
  structure,
  text,
  vendorId,
  vendorIds,
} from "./fields.ts";
import { endpoint, type UrlRules } from "./endpoint.ts";

/** The content encryption of encrypted answers when the client's entry names none. */
export const DEFAULT_ENC: EncryptedResponse["enc"] = "A256GCM";

/** The keys of a client, as `checkPublicKeys` has accepted them. */
export type ClientKeys = Parameters<typeof usableKeys>[0];

/** A client secret as the configuration keeps it: its digest and its length. */
interface HashedSecret {
  readonly digest: Buffer;
  readonly length: number;
}

const clientSecret = secretText({
  type: "secret of at least 32 random characters",
  description: "Held as SHA-256.",
  example: "env:PLATFORM_SECRET",
  //= rfc6749#A.2
  check: matching(/^[\x20-\x7e]{1,1024}$/, "must be printable ASCII, at most 1024 characters"),
}).transform((value): HashedSecret => ({ digest: createHash("sha256").update(value).digest(), length: value.length }));

const REDIRECT_URI = {
  pattern: String.raw`^(?:https://|http://(?:127\.0\.0\.1|\[::1\]|localhost)(?:[:/?]|$))[\x21-\x7e]+$`,
  not: { pattern: "#" },
};
const KEY_SET: NonNullable<FieldMeta["keywords"]> = {
  anyOf: [
    { type: "object", properties: { keys: { type: "array", minItems: 1, maxItems: 100 } }, required: ["keys"] },
    { type: "string", pattern: String.raw`^\s*\{` },
  ],
};

export function clientSchema(rules: UrlRules) {
  return section(
    {
      client_id: text({
        type: "1 to 128 of A-Z a-z 0-9 . _ ~ -",
        description: "The client's name towards the broker.",
        example: "platform",
        check: checkClientId,
      }),
      owner: text({
        type: "owner id",
        description:
          "The organization it belongs to. Where clients of different owners share a vendor's credentials, users first see a page that names client and owner, and a token counts only beside its own `connection`. Give each client one some time before the second owner comes: connections that a client without owner has at that moment end.",
        example: "acme",
      }).optional(),
      name: text({
        description: "Shown to users on error pages, in the link back to the client.",
        example: "Acme Platform",
        check: checkName,
      }).optional(),
      client_secret: oneOrList({
        type: "secret, or list of two while one replaces the other",
        description: "For client_secret_basic and client_secret_post. At least 32 random characters; held as SHA-256.",
        example: "env:PLATFORM_SECRET",
        keywords: { maxItems: 2 },
        check: (secrets) =>
          secrets.length > 2 ? "may have two values at most, the old one and the new one" : undefined,
        of: clientSecret,
      }).optional(),
      jwks: structure<ClientKeys>({
        type: "JSON Web Key Set with public keys, as a mapping or as JSON text",
        description:
          "The client's keys for private_key_jwt, and with `token_encrypted_response_alg` for its answers (`use: enc`). Beside `client_secret` for the answers only.",
        example: "file:./platform-jwks.json",
        keywords: KEY_SET,
        check: checkPublicKeys,
        prepare: readKeySet,
      }).optional(),
      jwks_uri: endpoint(rules, {
        description: "Where the client publishes those keys instead.",
        example: "https://acme.platform.example/jwks.json",
      }).optional(),
      redirect_uris: listOf({
        type: "list of at least one URL",
        description: "Where users may be sent back to.",
        example: "[https://acme.platform.example/oauth/vendor-callback]",
        least: 1,
        of: text({
          type: "absolute https URL (http on loopback only) in canonical form, without fragment",
          description: "Compared character for character.",
          example: "https://acme.platform.example/oauth/vendor-callback",
          keywords: REDIRECT_URI,
          check: checkRedirectUri,
        }),
      }),
      vendors: listOf({
        type: "list of vendor ids",
        description: "The vendors this client may use; `custom` means those that requests describe.",
        example: "[github, slack]",
        default: "all",
        of: vendorId({ description: "A vendor this client may use.", example: "github" }),
      }).optional(),
      browser_binding: choice({
        description:
          "`required`: the browser that starts a flow must finish it. `platform`: the callback is proxied through the platform's own domain, so no cookies reach the broker and the client vouches for the browser; refused where owners share a vendor client.",
        example: "required",
        values: ["required", "platform"],
      }).default("required"),
      allow_overrides: flag({
        description:
          "Whether requests may name an issuer or endpoints of their own (manual mode), with credentials of their own.",
        example: "true",
      }).prefault(true),
      approved_vendors: vendorIds(
        "For a client without owner: vendors with `setup: vendor_approval` that have approved it.",
        "A vendor that has approved this client.",
      ).default([]),
      refresh_tokens: choice({
        description:
          "`sealed`: the client gets an opaque refresh token instead of the vendor's, bound to it, with the connection inside, so that any OAuth library refreshes and revokes with it alone. `vendor`: the vendor's own, beside `connection`.",
        example: "sealed",
        values: ["vendor", "sealed"],
      }).default("vendor"),
      initiate_login_uri: text({
        type: "absolute https URL",
        description: "The link for a user who arrives from a vendor without having started a flow.",
        example: "https://acme.platform.example/connect",
        keywords: REDIRECT_URI,
        check: checkRedirectUri,
      }).optional(),
      token_encrypted_response_alg: choice({
        description:
          "Answers of /v1/token come as a compact JWE (`application/jwt`), encrypted to the first key of `jwks` or `jwks_uri` that fits; see docs/api.md.",
        example: "ECDH-ES",
        values: RESPONSE_ENCRYPTION_ALGS,
      }).optional(),
      token_encrypted_response_enc: choice({
        description: "How the content of that JWE is encrypted.",
        example: DEFAULT_ENC,
        default: DEFAULT_ENC,
        values: RESPONSE_ENCRYPTION_ENCS,
      }).optional(),
    },
    {
      anyOf: ["client_secret", "jwks", "jwks_uri"].map((way) => ({ required: [way] })),
      dependencies: { token_encrypted_response_enc: ["token_encrypted_response_alg"] },
    },
  );
}

export type ParsedClient = z.infer<ReturnType<typeof clientSchema>>;
