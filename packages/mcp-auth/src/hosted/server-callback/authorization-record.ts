/** The record of one authorization with this server's own callback: the engine's fields, and where the user is from. */
import type { StoredRecord } from "@oauth-broker/oauth-core";
import type { FlowRecord } from "@oauth-broker/oauth-core/brokered-code";
import { PATHS } from "../paths.ts";

/** So that a code that is used again can be known for one, and its session ended. */
export const REMEMBERED_SECONDS = 600;

export interface Authorization extends FlowRecord {
  readonly v: 3;
  readonly clientId: string;
  /** With `vendor` the source of the user's name, as links are named by it. */
  readonly issuer: string;
  readonly redirectUri: string;
  /** PKCE #1. */
  readonly codeChallenge: string;
  /** The session that came of it. */
  readonly sessionId?: string;
  /** Of format 2: the vendor's code alone, sealed under ours. */
  readonly sealedCode?: string;
}

/** Format 2 had one purpose, one path, and no word on `iss`. */
export function asAuthorization({ data }: StoredRecord): Authorization {
  const authorization = data as unknown as Authorization;
  return data["v"] === 3 ? authorization : { ...authorization, v: 3, purpose: "client", path: PATHS.callback };
}
