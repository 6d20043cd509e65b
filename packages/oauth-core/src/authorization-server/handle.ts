/**
 * One-time values that name a flow: `<flow id>.<secret>`. The flow id is public (logs, pages,
 * redirects); the secret is what its bearer must present, and only its SHA-256 is stored. Used for
 * the request_uri of a pushed request, for authorization codes, and for `state` at deployed
 * servers.
 */
import { hash } from "node:crypto";
import { randomToken } from "../protocol/secret.ts";

const FLOW_ID = "(?:[a-z0-9]{1,16}-)?[A-Za-z0-9_-]{22}";
const HANDLE = new RegExp(`^(${FLOW_ID})\\.[A-Za-z0-9_-]{43}$`);
const FLOW_ID_ONLY = new RegExp(`^${FLOW_ID}$`);

/** 128 random bits, base64url, after the optional name of the cell that owns the flow. */
export function createFlowId(cell?: string): string {
  let id = randomToken(16);
  // An operator pastes it behind `broker flow`, if a leading dash would begin an option.
  while (id.startsWith("-")) id = randomToken(16);
  return cell === undefined ? id : `${cell}-${id}`;
}

/** Whether the text has the shape of a flow id. Says nothing of whether there is such a flow. */
export function isFlowId(value: string): boolean {
  return FLOW_ID_ONLY.test(value);
}

export interface Handle {
  readonly flowId: string;
  /** What the other side presents. */
  readonly value: string;
  /** What the record holds: BASE64URL(SHA-256(value)), 43 characters. */
  readonly hash: string;
}

/** 256 random bits for one flow. */
export function createHandle(flowId: string): Handle {
  const value = `${flowId}.${randomToken(32)}`;
  return { flowId, value, hash: hashOf(value) };
}

function flowIdOfHandle(value: string): string | undefined {
  return HANDLE.exec(value)?.[1];
}

const CODES = /(?<=^|&)code=[^&]*/g;

/**
 * The flow that the code of a form names, so that every refusal names its flow, also that of a form
 * that cannot be read. Nothing is looked up by it.
 *
 * @param form as sent
 * @returns undefined without exactly one code that can be from us
 */
export function flowIdOfForm(form: string): string | undefined {
  const [pair, ...more] = form.match(CODES) ?? [];
  return more.length === 0 ? flowIdOfHandle(new URLSearchParams(pair).get("code") ?? "") : undefined;
}

/** @returns undefined when the value cannot be from us */
export function parseHandle(value: string): Handle | undefined {
  const flowId = flowIdOfHandle(value);
  return flowId === undefined ? undefined : { flowId, value, hash: hashOf(value) };
}

/** BASE64URL(SHA-256(value)): how bearer values (codes, cookies) are stored. */
export function hashOf(value: string): string {
  return hash("sha256", value, "base64url");
}
