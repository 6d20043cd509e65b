/**
 * What the broker offers beyond OAuth: whether a connection is still good, a vendor's own
 * registration passed through, and a description of what a flow would do.
 */
import type { Client, ClientAuth } from "oauth4webapi";
import type { Clock, Fetch, JsonObject } from "../ports.ts";
import { invalidResponse } from "../error.ts";
import type { Checked, CheckRequest, GrantTarget, StartRequest } from "../types.ts";
import { requireSuccess } from "./answer-error.ts";
import { authorizationHeader } from "./authentication.ts";
import { isMembers, parseMembers } from "../json.ts";
import type { BrokerMetadata } from "./metadata.ts";
import { type Form, grantForm, present, startForm } from "./request-form.ts";

export interface ExtrasDeps {
  readonly issuer: string;
  readonly client: Client;
  readonly authenticate: ClientAuth;
  readonly metadata: () => Promise<BrokerMetadata>;
  readonly fetch: Fetch;
}

/** What a vendor's dynamic client registration (RFC 7591) may need in addition to the metadata. */
export interface RegisterOptions {
  /** For vendors that only register clients with an initial access token. */
  readonly initialAccessToken?: string;
}

/**
 * The vendor's response, byte for byte; secrets included. A refusal by the broker has the same
 * shape.
 */
export interface RegistrationAnswer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: Uint8Array;
}

/** The response of /v1/explain: docs/api.md. */
export type Explanation = JsonObject;

/** @throws BrokerClientError when the broker cannot be reached */
export async function register(
  vendor: string,
  { initialAccessToken }: RegisterOptions,
  { issuer, client, authenticate, metadata, fetch }: ExtrasDeps,
): Promise<RegistrationAnswer> {
  const authorization = await authorizationHeader(authenticate, await metadata(), client);
  const answer = await fetch(`${issuer}/register`, {
    method: "POST",
    headers: { authorization, accept: "application/json", "content-type": "application/json" },
    body: JSON.stringify({ vendor, ...present({ initial_access_token: initialAccessToken }) }),
  });
  const contentType = answer.headers.get("content-type");
  const body = new Uint8Array(await answer.arrayBuffer());
  return { status: answer.status, ...(contentType === null ? {} : { contentType }), body };
}

/** @throws BrokerClientError */
export async function explain(request: StartRequest & GrantTarget, deps: ExtrasDeps): Promise<Explanation> {
  return post("/v1/explain", { ...startForm(request), ...grantForm(request) }, deps);
}

/** @throws BrokerClientError */
export async function check(
  { accessToken, scope, ...target }: CheckRequest,
  deps: ExtrasDeps & { readonly now: Clock },
): Promise<Checked> {
  const at = deps.now();
  const form = { ...grantForm(target), ...present({ access_token: accessToken, scope }) };
  return readChecked(await post("/v1/check", form, deps), at);
}

async function post(
  path: string,
  form: Form,
  { issuer, client, authenticate, metadata, fetch }: ExtrasDeps,
): Promise<JsonObject> {
  const body = new URLSearchParams(form);
  const headers = new Headers({ accept: "application/json" });
  await authenticate(await metadata(), client, body, headers);
  const answer = await requireSuccess(await fetch(`${issuer}${path}`, { method: "POST", headers, body }));
  const members = parseMembers(await answer.text());
  if (members !== undefined) return members;
  throw invalidResponse("malformed", "The broker's answer is not a JSON object");
}

const WAYS: readonly Checked["checkedBy"][] = ["introspection", "userinfo", "account", "none"];

/** @throws BrokerClientError invalid_response for an answer that breaks its contract */
function readChecked(members: JsonObject, at: number): Checked {
  const { active, scope, missing_scope: missingScope, expires_in: expiresIn, account } = members;
  const checkedBy = WAYS.find((way) => way === members["checked_by"]);
  const isSound =
    checkedBy !== undefined &&
    (checkedBy === "none" ? active === null : typeof active === "boolean") &&
    [scope, missingScope].every((text) => text === undefined || typeof text === "string") &&
    (expiresIn === undefined || (typeof expiresIn === "number" && expiresIn > 0));
  const owner = readAccount(account);
  if (!isSound || (account !== undefined && owner === undefined)) {
    throw invalidResponse("malformed", "The broker does not say whether the token is good");
  }
  return {
    active: active === null ? null : active === true,
    checkedBy,
    ...(typeof scope === "string" ? { scope } : {}),
    ...(typeof missingScope === "string" ? { missingScope } : {}),
    ...(typeof expiresIn === "number" ? { expiresAt: at + expiresIn } : {}),
    ...(owner === undefined ? {} : { account: owner }),
  };
}

function readAccount(account: unknown): Checked["account"] | undefined {
  if (!isMembers(account)) return undefined;
  const { issuer, subject } = account;
  if (typeof subject !== "string" || (issuer !== null && typeof issuer !== "string")) return undefined;
  return { subject, ...(issuer === null ? {} : { issuer }) };
}
