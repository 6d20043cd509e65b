/**
 * What the broker offers beyond OAuth: a vendor's own registration passed through, and a
 * description of what a flow would do.
 */
import type { Client, ClientAuth } from "oauth4webapi";
import type { Fetch, JsonObject } from "../ports.ts";
import { BrokerClientError } from "../error.ts";
import type { GrantTarget, StartRequest } from "../types.ts";
import { requireSuccess } from "./answer-error.ts";
import { authorizationHeader } from "./authentication.ts";
import { parseMembers } from "./members.ts";
import type { BrokerMetadata } from "./metadata.ts";
import { grantForm, present, startForm } from "./request-form.ts";

export interface ExtrasDeps {
  readonly issuer: string;
  readonly client: Client;
  readonly authenticate: ClientAuth;
  readonly metadata: () => Promise<BrokerMetadata>;
  readonly fetch: Fetch;
}

/** What a vendor's dynamic client registration (RFC 7591) may need besides the metadata. */
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
export async function explain(
  request: StartRequest & GrantTarget,
  { issuer, client, authenticate, metadata, fetch }: ExtrasDeps,
): Promise<Explanation> {
  const body = new URLSearchParams({ ...startForm(request), ...grantForm(request) });
  const headers = new Headers({ accept: "application/json" });
  await authenticate(await metadata(), client, body, headers);
  const answer = await requireSuccess(await fetch(`${issuer}/v1/explain`, { method: "POST", headers, body }));
  const explained = parseMembers(await answer.text());
  if (explained !== undefined) return explained;
  throw new BrokerClientError("answer_refused", "The broker's answer is not a JSON object", { reason: "malformed" });
}
