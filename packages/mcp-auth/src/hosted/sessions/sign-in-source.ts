/**
 * Which vendor's users a server's sessions are of: one record per server, made at its first start.
 * A server with `VENDORS` does not start over sessions of another sign-in vendor, which would end
 * all of them unseen, unless the operator says so once. With `VENDOR` the record follows the
 * vendor, so that it is known when `VENDORS` comes. A table from before this record counts as one
 * of the first sign-in vendor that finds it: sessions and links of another are refused one by one.
 */
import { type JsonObject, OAuthError, type RecordKey, type RecordStore } from "@oauth-broker/oauth-core";
import { configError } from "@oauth-broker/oauth-core/configuration";
import { hashOf } from "@oauth-broker/oauth-core/server";
import type { HostedSettings } from "../../settings.ts";
import type { Storage } from "../../storage.ts";
import { resourceOf } from "../paths.ts";
import { createServerRecords, NEVER } from "../server-key.ts";
import { identitySource, type IdentitySource, isSameSource } from "../vendor-links/identity-source.ts";

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
  const { deploymentUrl, linking, adoptUnsealedServerKey: adoptUnsealed } = settings;
  const { records } = createServerRecords({ ...storage, adoptUnsealed });
  const deps = { records, audience: resourceOf(deploymentUrl), source: identitySource(settings) };
  if (linking === undefined) {
    // Not awaited: with VENDOR a server starts whether or not its store responds.
    void claimSignIn(deps, { adopt: true }).catch(() => undefined);
    return;
  }
  // A new server key has ended all sessions, and the record that it did not write.
  const other = await claimSignIn(deps, { adopt: linking.adoptSignIn, replaceRefused: adoptUnsealed });
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
      next: "Set it back, or start once with ADOPT_SIGN_IN=true: those sessions end, and links made under them no longer count.",
    },
  );
}

export interface SignInSourceDeps {
  /** Those of server-key.ts: a table writer without the key cannot name another source. */
  readonly records: RecordStore;
  /** Another server on the same table has sessions of its own. */
  readonly audience: string;
  readonly source: IdentitySource;
}

/**
 * Atomic over all processes: of two that start with different sign-in vendors one is refused.
 *
 * @param options.adopt replaces another source
 * @param options.replaceRefused replaces a row that was not written under the server key; `adopt`
 *   does too
 * @returns the source of the sessions when it is another, which stays
 * @throws OAuthError temporarily_unavailable
 */
export async function claimSignIn(
  { records, audience, source: { vendor, issuer } }: SignInSourceDeps,
  { adopt, replaceRefused = adopt }: { readonly adopt: boolean; readonly replaceRefused?: boolean },
): Promise<IdentitySource | undefined> {
  const key: RecordKey = { kind: "sign-in-source", id: hashOf(audience) };
  const data = { v: 1, vendor, issuer };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const record = await records.get(key);
    if (record === undefined) {
      if ((await records.create({ key, stage: STAGE, data, expiresAt: NEVER })) === "created") return undefined;
      // A row that is not ours, or one that another process has just made.
      if (replaceRefused && (await records.get(key)) === undefined) await records.delete(key);
      continue;
    }
    const present = sourceOf(record.data);
    if (isSameSource(present, { vendor, issuer })) return undefined;
    if (!adopt) return present;
    const from = { stage: STAGE, expect: { vendor: present.vendor, issuer: present.issuer } };
    if ((await records.advance(key, from, { stage: STAGE, set: data })).outcome === "moved") return undefined;
  }
  throw new OAuthError("temporarily_unavailable", "The sign-in vendor of the sessions is not known", {
    detail:
      "the record of the sign-in vendor kept changing, or was not written under this server's key: " +
      "ADOPT_SIGN_IN=true replaces it",
  });
}

function sourceOf({ v, vendor, issuer }: JsonObject): IdentitySource {
  if (v === 1 && typeof vendor === "string" && typeof issuer === "string") return { vendor, issuer };
  throw new OAuthError("temporarily_unavailable", "The sign-in vendor of the sessions is not known", {
    detail: "the record of the sign-in vendor is not of a format this release knows",
  });
}
