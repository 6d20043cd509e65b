/**
 * A client whose id is the URL of a document about it
 * (draft-ietf-oauth-client-id-metadata-document). The document is fetched at each authorization
 * request. Real servers require https; here plain http on this machine is accepted as well.
 */
import { isRedirectUri } from "../base/clients.ts";
import { parseObject } from "../base/members.ts";
import type { RegisteredClient } from "../base/registration.ts";

const TIMEOUT_MS = 3000;
const MAX_BYTES = 5 * 1024;

/**
 * @returns the client as its document describes it; undefined when the document is missing or not
 *   acceptable
 */
export async function readClientDocument(clientId: string): Promise<RegisteredClient | undefined> {
  const text = await fetchText(clientId);
  const document = text === undefined ? undefined : parseObject(text);
  const redirectUris: unknown = document?.["redirect_uris"];
  if (document?.["client_id"] !== clientId || !Array.isArray(redirectUris)) return undefined;
  const isPublic = (document["token_endpoint_auth_method"] ?? "none") === "none" && !("client_secret" in document);
  if (!isPublic || !redirectUris.every(isRedirectUri)) return undefined;
  const name = document["client_name"];
  const named = typeof name === "string" ? { name } : {};
  return { clientId, redirectUris, tokenEndpointAuthMethod: "none", ...named };
}

/** With a path, without user, query or fragment. */
export function isDocumentAddress(text: string): boolean {
  if (!URL.canParse(text) || !isRedirectUri(text)) return false;
  const { pathname, username, password, search } = new URL(text);
  return pathname !== "/" && username === "" && password === "" && search === "";
}

async function fetchText(address: string): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(address, { redirect: "error", signal, headers: { Accept: "application/json" } });
    const text = await answer.text();
    return answer.status === 200 && text.length <= MAX_BYTES ? text : undefined;
  } catch {
    return undefined;
  }
}
