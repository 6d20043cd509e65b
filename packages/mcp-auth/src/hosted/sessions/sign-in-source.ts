/**
 * Which vendor's users a server's sessions are of: one record per server, made at its first start.
 * A server with `VENDORS` does not start over sessions of another sign-in vendor, which would end
 * all of them unseen, unless the operator says so once. With `VENDOR` the record follows the
 * vendor, so that it is known when `VENDORS` comes. A table from before this record counts as one
 * of the first sign-in vendor that finds it: sessions and links of another are refused one by one.
 */
import type { JsonObject } from "@oauth-broker/oauth-core";
import { configError } from "@oauth-broker/service/configuration";
import type { HostedSettings } from "../../settings.ts";
import type { Storage } from "../../storage.ts";
import { resourceOf } from "../../resource/paths.ts";
import { createServerRecords, NEVER } from "../records/server-key.ts";
import { identitySource, type IdentitySource, isSameSource } from "../records/identity-source.ts";
import { generationIn, type SignInGenerationDeps, signInSourceKey, unknownSignIn } from "./sign-in-generation.ts";

/** In each round another process has written the record. */
const TRIES = 5;
const STAGE = "kept";

/** Also for the storage of a server that has not been assembled yet. */
export type SignInStorage = Pick<Storage, "records" | "keys" | "context">;

/**
 * Before a server serves.
 *
 * @throws ConfigError with `VENDORS`, when the sessions are of another sign-in vendor
 * @throws OAuthError temporarily_unavailable with `VENDORS`, when that is not known now
 */
export async function requireSignIn(settings: HostedSettings, storage: SignInStorage): Promise<void> {
  const { deploymentUrl, links, adoptUnsealedServerKey: adoptUnsealed } = settings;
  const { records } = createServerRecords({ ...storage, adoptUnsealed });
  const deps = { records, audience: resourceOf(deploymentUrl), source: identitySource(settings) };
  if (links.kind === "one") {
    // Not awaited: with VENDOR a server starts whether or not its store responds.
    void claimSignIn(deps, { adopt: true, endsSessions: false }).catch(() => undefined);
    return;
  }
  // A new server key has ended all sessions, and the record that it did not write.
  const other = await claimSignIn(deps, { adopt: links.adoptSignIn, replaceRefused: adoptUnsealed });
  if (other === undefined) return;
  throw configError(
    [
      {
        path: "SIGN_IN",
        problem: `is another vendor than the one whose users' sessions are in this table: ${other.vendor} at ${other.issuer}`,
        expected: "the vendor at which users have signed in so far",
        example: `SIGN_IN=${other.vendor}`,
      },
    ],
    {
      service: "The server",
      source: "its environment",
      next: "Set it back, or start once with ADOPT_SIGN_IN=true: those sessions end for good, and links made under them do not count as long as users sign in elsewhere.",
    },
  );
}

/** The records are those of server-key.ts: a table writer without the key cannot name another source. */
export interface SignInSourceDeps extends SignInGenerationDeps {
  readonly source: IdentitySource;
}

export interface ClaimOptions {
  /** Replaces another source. */
  readonly adopt: boolean;
  /** Replaces a row that was not written under the server key; `adopt` does too. */
  readonly replaceRefused?: boolean;
  /**
   * Whether sessions and sign-ins of before are not valid again either if their vendor is set
   * again; `adopt` does it, unless this is false.
   */
  readonly endsSessions?: boolean;
}

/**
 * Atomic over all processes: of two that start with different sign-in vendors one is refused.
 *
 * @returns the source of the sessions when it is another, which stays
 * @throws OAuthError temporarily_unavailable
 */
export async function claimSignIn(
  { records, audience, source: { vendor, issuer } }: SignInSourceDeps,
  { adopt, replaceRefused = adopt, endsSessions = adopt }: ClaimOptions,
): Promise<IdentitySource | undefined> {
  const key = signInSourceKey(audience);
  const data = { v: 1, vendor, issuer };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const record = await records.get(key);
    if (record === undefined) {
      const first = { key, stage: STAGE, data: { ...data, generation: 0 }, expiresAt: NEVER };
      if ((await records.create(first)) === "created") return undefined;
      // A row that is not ours, or one that another process has just made.
      if (replaceRefused && (await records.get(key)) === undefined) await records.delete(key);
      continue;
    }
    const present = sourceOf(record.data);
    if (isSameSource(present, { vendor, issuer })) return undefined;
    if (!adopt) return present;
    const generation = generationIn(record.data) + (endsSessions ? 1 : 0);
    const from = { stage: STAGE, expect: { vendor: present.vendor, issuer: present.issuer } };
    if ((await records.advance(key, from, { stage: STAGE, set: { ...data, generation } })).outcome === "moved")
      return undefined;
  }
  throw unknownSignIn("kept changing, or was not written under this server's key: ADOPT_SIGN_IN=true replaces it");
}

function sourceOf({ v, vendor, issuer }: JsonObject): IdentitySource {
  if (v === 1 && typeof vendor === "string" && typeof issuer === "string") return { vendor, issuer };
  throw unknownSignIn("is not of a format this release knows");
}
