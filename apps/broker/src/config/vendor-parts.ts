/** The part of a vendor's entry with fields of its own: credentials. */
import { Secret } from "@oauth-broker/oauth-core";
import type { z } from "zod";
import { notYet, section, text } from "./fields.ts";

const SIGNED_SECRET = "client secrets that are signed JWTs come later";

export const credentialsSchema = section({
  id: text(
    {
      type: "text of at most 128 characters",
      description: "Names the entry, in logs and in `connection`; keep it as long as tokens live.",
      example: "2026-11",
      default: "its client_id",
    },
    (value) => (/^[\x21-\x7e]{1,128}$/.test(value) ? undefined : "must be at most 128 printable ASCII characters"),
  ).optional(),
  client_id: text(
    { type: "text", description: "What the vendor calls us.", example: "env:GITHUB_CLIENT_ID" },
    checkVisible,
  ),
  client_secret: text(
    {
      type: "secret",
      description: "Absent only with `token_endpoint_auth_method: none`.",
      example: "env:GITHUB_CLIENT_SECRET",
    },
    checkVisible,
  )
    .transform((value) => new Secret(value))
    .optional(),
  team_id: notYet({ type: "text", description: "For a client secret that is a signed JWT." }, SIGNED_SECRET).optional(),
  key_id: notYet({ type: "text", description: "For a client secret that is a signed JWT." }, SIGNED_SECRET).optional(),
  private_key: notYet(
    { type: "secret", description: "For a client secret that is a signed JWT." },
    SIGNED_SECRET,
  ).optional(),
});

/** Line breaks come from a badly pasted secret, and no vendor issues them. */
export function checkVisible(value: string): string | undefined {
  return /^[^\p{Cc}]{1,2048}$/u.test(value)
    ? undefined
    : "must have at most 2048 characters, none of them a control character";
}

/** It travels in a header, behind `Bearer `. */
export function checkToken(value: string): string | undefined {
  return /^[\x21-\x7e]{1,4096}$/.test(value)
    ? undefined
    : "must be visible ASCII without spaces, at most 4096 characters";
}

export function checkCredentialIds(entries: readonly z.infer<typeof credentialsSchema>[]): string | undefined {
  const ids = entries.map((entry) => entry.id ?? entry.client_id);
  return new Set(ids).size === ids.length ? undefined : "has two entries with the same id";
}
