/** What a vendor says of an access token, and what it comes to. Made by token-check.ts and introspect.ts, judged by judge-token.ts. */
import type { EpochSeconds, JsonObject } from "../../ports.ts";
import type { IdentityMembers } from "../../vendors/account.ts";

export type TokenVerdict =
  /** `reason`: for the log, in a word. */
  | { readonly active: false; readonly reason: string }
  | {
      readonly active: true;
      /** Stable and globally unique at the vendor. */
      readonly user: string;
      /** The client it was issued to, where the vendor tells it. */
      readonly clientId?: string;
      readonly scope?: readonly string[];
      readonly expiresAt?: EpochSeconds;
    };

/** Of a token that the vendor calls good. */
export interface TokenStatement {
  readonly answer: JsonObject;
  /** Members of `answer` that are the identity; undefined where it never tells it. */
  readonly identity: IdentityMembers | undefined;
  /** It may be about a token of another kind, so the account has to know this one too. */
  readonly isDoubtful: boolean;
  /** As the vendor names them, all of them the same if it is for one. */
  readonly clients: readonly string[];
  readonly scope: readonly string[] | undefined;
  readonly expiresAt: EpochSeconds | undefined;
}
