/**
 * What others' tests, sources and pages state about vendors, and what was wrong in the entries: the
 * rows of this folder, whose README.md says what they mean.
 */
import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "../../ports.ts";

/** The call for a user's account, and an answer to it. */
export interface WitnessedAccount {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonValue;
  readonly auth: "bearer" | "query" | "header" | "path" | "form" | null;
  /** Names of the form's members, beside the token. */
  readonly form?: readonly string[];
  /** Other calls that identify the same user; those without `shape` and `identity` are not replayed. */
  readonly also?: readonly Partial<WitnessedAccount>[];
  /** Other members that identify the user. */
  readonly other_identities?: readonly string[];
  readonly auth_parameters?: readonly string[];
  readonly auth_header?: string;
  readonly auth_scheme?: string;
  readonly auth_also?: readonly string[];
  readonly shape: JsonValue;
  /** A dotted path; null if no source states it. */
  readonly identity: string | null;
  readonly scope_needed?: string | null;
  readonly confidence: "high" | "medium" | "low";
}

/** A token response. */
export interface WitnessedToken {
  readonly shape?: JsonObject;
  readonly refresh_rotates: boolean | null;
  readonly expires_in: number | null;
  readonly refresh_expires_in: number | null;
  /** Where the scopes are, if not in `scope`. */
  readonly scope_member?: string;
  /** Where the lifetime is, if not in `expires_in`. */
  readonly expires_member?: string;
}

/** The exchange of a token for a long-lived one: a GET, and the answer to it. */
export interface WitnessedExchange {
  readonly url: string;
  readonly grant_type: string;
  /** The parameter of the token. */
  readonly token_parameter: string;
  readonly shape: JsonObject;
}

/** A refusal. */
export interface WitnessedError {
  readonly leg: "code" | "refresh" | "account" | "callback";
  readonly status: number;
  readonly shape: JsonValue;
  readonly means: "dead_grant" | "bad_client" | "rate_limit" | "outage" | "cancel";
}

/** A revocation. */
export interface WitnessedRevocation {
  readonly url: string;
  readonly method: string;
  readonly body?: string;
  readonly token_parameter?: string;
  readonly authentication?: string;
  /** What a success says. */
  readonly success_member?: { readonly member: string; readonly value: JsonValue };
}

/** Who states a fact. */
export interface WitnessSource {
  readonly sources?: readonly string[];
  readonly kind?: string;
}

/** One vendor. */
export interface Witness {
  readonly id: string;
  readonly account?: WitnessedAccount;
  readonly token?: WitnessedToken;
  readonly errors?: readonly WitnessedError[];
  readonly scope_separator?: string;
  readonly pkce?: "S256" | "plain" | "none";
  readonly client_auth?: readonly string[];
  readonly revocation?: WitnessedRevocation;
  readonly revocation_also?: readonly WitnessedRevocation[];
  readonly endpoints?: Readonly<Record<string, string>>;
  readonly extra?: {
    readonly authorization?: Readonly<Record<string, string | boolean>>;
    readonly token?: Readonly<Record<string, string | number>>;
    readonly refresh?: Readonly<Record<string, string | number>>;
    readonly callback?: readonly string[];
    readonly token_request_body?: "form" | "json";
    readonly refresh_url?: string;
    readonly long_lived?: WitnessedExchange;
  };
  readonly facts: Readonly<Record<string, WitnessSource | readonly WitnessSource[]>>;
}

/** A fact that an entry had wrong, or lacked. */
export interface Correction {
  readonly id: string;
  readonly field: string;
  readonly now: JsonValue;
  readonly right: JsonValue;
  readonly sources: readonly string[];
  readonly confidence: "high" | "medium" | "low";
  readonly kind: "wrong" | "missing" | "dated" | "inexpressible";
}

/** @returns the vendors that others state facts about */
export function readWitnesses(): readonly Witness[] {
  return rows("witnesses.jsonl") as Witness[];
}

/** @returns what the entries had wrong on 2026-11-26 */
export function readCorrections(): readonly Correction[] {
  return rows("corrections.jsonl") as Correction[];
}

function rows(file: string): unknown[] {
  const lines = readFileSync(new URL(file, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line): unknown => JSON.parse(line));
}
