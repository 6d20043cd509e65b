/**
 * How often the operator of a server has adopted another sign-in vendor (`ADOPT_SIGN_IN`). Every
 * session and every sign-in of the pages carries the number of its time, and is valid only while no
 * adoption has come after it: otherwise the sessions of a vendor that the operator left, perhaps
 * because it was compromised, would be valid again after a return to it.
 */
import { type JsonObject, OAuthError, type RecordKey, type RecordStore } from "@oauth-broker/oauth-core";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";

/**
 * The present number; read once in the life of a process, for which the sign-in vendor is one.
 *
 * @throws OAuthError temporarily_unavailable, and the next call tries again
 */
export type SignInGeneration = () => Promise<number>;

/** The member of a session and of a sign-in. */
export type OfSignIn = {
  /** Absent in rows of earlier releases: 0. */
  readonly signInGeneration?: number;
};

export interface SignInGenerationDeps {
  readonly records: RecordStore;
  /** Another server on the same table has its own sessions. */
  readonly audience: string;
}

export function createSignInGeneration({ records, audience }: SignInGenerationDeps): SignInGeneration {
  let reading: Promise<number> | undefined;
  const read = async (): Promise<number> => {
    const record = await records.get(signInSourceKey(audience));
    return record === undefined ? 0 : generationIn(record.data);
  };
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}

/** The record of the sign-in vendor; sign-in-source.ts writes it. */
export function signInSourceKey(audience: string): RecordKey {
  return { kind: "sign-in-source", id: hashOf(audience) };
}

/** @throws OAuthError temporarily_unavailable for a format this release does not know */
export function generationIn({ v, generation = 0 }: JsonObject): number {
  if (v === 1 && typeof generation === "number") return generation;
  throw unknownSignIn("is not of a format this release knows");
}

/** @param what is the matter with its record */
export function unknownSignIn(what: string): OAuthError {
  return new OAuthError("temporarily_unavailable", "The sign-in vendor of the sessions is not known", {
    detail: `the record of the sign-in vendor ${what}`,
  });
}

/** Whether no other sign-in vendor was adopted since. */
//= bar#RS-2
export async function isOfPresentSignIn(
  { signInGeneration: began = 0 }: OfSignIn,
  { signInGeneration }: { readonly signInGeneration: SignInGeneration },
): Promise<boolean> {
  return began >= (await signInGeneration());
}
