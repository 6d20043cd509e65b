/**
 * The types of the connection test: its subject, the result of one check, and the fault that ends
 * it.
 */
import { type Fetch, isJsonObject, type JsonValue, type Secret } from "@oauth-broker/oauth-core";
import { isEgressError } from "@oauth-broker/oauth-core/egress";
import type { ConnectorSettings } from "../../connectors/connector.ts";
import type { ServiceFile } from "../service-file/service-file.ts";

/** The server under test. */
export interface Subject extends Pick<ServiceFile, "mode" | "expose"> {
  readonly deploymentUrl: string;
  readonly settings: ConnectorSettings;
  /** PLATFORM_OAUTH_CALLBACK_URL. */
  readonly callbackUrl: string;
  readonly platformToken: Secret;
}

/** In the order in which they run. */
export type CheckName = "initialize" | "challenge" | "token" | "discovery" | "settings" | "client" | "authorization";

export interface Check {
  readonly name: CheckName;
  readonly outcome: "passed" | "client_missing" | "failed";
  /**
   * One sentence for the operator. From the server's answers it repeats only statuses and error
   * codes.
   */
  readonly said: string;
  readonly remedy?: string;
}

export interface Fault extends Error {
  readonly name: "ConnectionTestFault";
  readonly outcome: "client_missing" | "failed";
  readonly remedy: string;
}

export function fault(said: string, remedy: string, outcome: Fault["outcome"] = "failed"): Fault {
  return Object.assign(new Error(said), { name: "ConnectionTestFault" as const, outcome, remedy });
}

export function isFault(error: unknown): error is Fault {
  return error instanceof Error && error.name === "ConnectionTestFault";
}

/** @throws Fault when no answer comes at all */
export async function ask(fetch: Fetch, url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (!isEgressError(error)) throw error;
    const { pathname } = new URL(url);
    throw fault(`${pathname} gave no usable answer.`, "Read the server's output with deploy logs.");
  }
}

/** @returns a member of the JSON object that a server answered with */
export async function memberOf(answer: Response, name: string): Promise<unknown> {
  const body = (await answer.json().catch(() => null)) as JsonValue;
  return isJsonObject(body) ? body[name] : undefined;
}

/**
 * The most frequent mistake: a middleware that requires a token in front of the routes that issue
 * one.
 */
export function blockedBy(status: number, path: string): Fault {
  return fault(
    `${path} answers ${status} without a token: a global auth middleware is in front of the OAuth discovery routes.`,
    "Let the auth middleware protect POST /mcp only; /.well-known/*, /authorize, /token, /register and /revoke must answer without a bearer token.",
  );
}

export const isBlocked = (status: number): boolean => status === 401 || status === 403;
