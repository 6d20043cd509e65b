/** The sections within a vendor's entry: credentials and placeholders. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { matching } from "@oauth-broker/oauth-core";
import type { z } from "zod";
import { choice, listOf, mapOf, parsedText, secret, secretText, section, text } from "./fields.ts";
import { checkPlaceholderName } from "./checks.ts";

function pemOf<T>(read: (pem: string) => T, problem: string) {
  return (text: string): { value: T } | { problem: string } => {
    try {
      // An environment variable may hold a backslash and an n instead of each line break.
      return { value: read(text.replaceAll("\\n", "\n")) };
    } catch {
      return { problem };
    }
  };
}

export const credentialsSchema = section({
  id: text({
    type: "text of at most 128 characters",
    description: "Names the entry, in logs and in `connection`; keep it as long as tokens live.",
    example: "2026-11",
    default: "its client_id",
    check: matching(/^[\x21-\x7e]{1,128}$/, "must be at most 128 printable ASCII characters"),
  }).optional(),
  client_id: secretText({
    description: "Our client id at the vendor.",
    example: "env:GITHUB_CLIENT_ID",
  }),
  client_secret: secret({
    description: "Absent with `token_endpoint_auth_method: none`, and if there is a key in its place.",
    example: "env:GITHUB_CLIENT_SECRET",
  }).optional(),
  team_id: secretText({
    description: "Only if the vendor's client secret is a signed JWT: who signs, its `iss`.",
    example: "ABCDE12345",
  }).optional(),
  key_id: secretText({
    description: "Of `private_key`, as the vendor names it: `kid`.",
    example: "FGHIJ67890",
  }).optional(),
  private_key: parsedText({
    type: "secret, a private key in PEM",
    description:
      "Instead of a secret: on P-256 if the vendor's client secret is a JWT signed with it, RSA if the vendor takes the certificate it belongs to. Each request is signed anew.",
    example: "file:./AuthKey_FGHIJ67890.p8",
    parse: pemOf((pem) => createPrivateKey(pem), "is not a private key in PEM, or is an encrypted one"),
  }).optional(),
  certificate: parsedText({
    type: "certificate in PEM",
    description: "That of `private_key`, if the vendor takes a certificate instead of a secret.",
    example: "file:./vendor-app.pem",
    parse: pemOf((pem) => new X509Certificate(pem), "is not a certificate in PEM"),
  }).optional(),
  placeholders: mapOf({
    type: "mapping of names to sections",
    description:
      "Where each tenant issues its own clients: the tenants this one is used at, of those under `placeholders` of the vendor. Default: all of those.",
    example: "{ okta_host: { values: [acme.okta.com] } }",
    name: checkPlaceholderName,
    of: section({
      values: listOf({
        type: "list of texts",
        description: "The tenants.",
        example: "[acme.okta.com]",
        of: text({ description: "A value.", example: "acme.okta.com" }),
      }),
    }),
  }).optional(),
});

export type ParsedCredentials = z.infer<typeof credentialsSchema>;

export function checkCredentialIds(entries: readonly z.infer<typeof credentialsSchema>[]): string | undefined {
  const ids = entries.map((entry) => entry.id ?? entry.clientId);
  return new Set(ids).size === ids.length ? undefined : "has two entries with the same id";
}

export const placeholderSchema = section({
  pattern: text({
    type: "regular expression",
    description: "The whole value must match it, in addition to the rules of its place in the URL.",
    example: '"[a-z0-9-]{3,40}"',
    check: checkPattern,
  }).optional(),
  values: listOf({
    type: "list of texts",
    description:
      "The only permitted values; where each tenant issues its own clients (`clients_of: tenant`), those at which the broker's credentials are used, while clients with their own may name others. Only these can reach a private network, never a value that a request chooses freely.",
    example: "[eu, us]",
    least: 1,
    of: text({ description: "A value.", example: "eu" }),
  }).optional(),
  default: text({
    description: "Used when a request gives none; without it each request must.",
    example: "eu",
  }).optional(),
  kind: choice({
    description:
      "What a value is. `host` allows several labels. Where a value can fill a whole registrable domain, clients need their own credentials.",
    example: "label",
    default: "a label in the host, a segment in the path, text in the query",
    values: ["label", "segment", "host"],
  }).optional(),
  suffix: listOf({
    type: "list of texts",
    description: "A host that contains a value has one of these ends: the domains the vendor answers at.",
    example: "[.vendor.example]",
    least: 1,
    of: text({
      description: "An end of a host, with its leading dot.",
      example: ".vendor.example",
      check: matching(/^(?:\.[a-z0-9-]+)+$/, "must be labels in lower case, a dot before each"),
    }),
  }).optional(),
});

export type ParsedPlaceholder = z.infer<typeof placeholderSchema>;

function checkPattern(value: string): string | undefined {
  try {
    void new RegExp(`^(?:${value})$`);
    return undefined;
  } catch {
    return "must be a regular expression";
  }
}
