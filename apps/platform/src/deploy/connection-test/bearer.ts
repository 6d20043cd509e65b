/**
 * Tests POST /mcp: without a token, with an invalid token, and for a server without OAuth with the
 * platform's token.
 */
import { extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import type { Fetch } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import { ask, fault, isBlocked, memberOf, type Subject } from "./check.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "connection test", version: "1" } },
};
const ONLY_MCP = "Answer POST /mcp without a valid token with 401 and the header WWW-Authenticate: Bearer.";

/** @returns the address of the resource's metadata, if the challenge names one */
export async function requireChallenge(
  subject: Subject,
  fetch: Fetch,
): Promise<{ said: string; value: string | undefined }> {
  const answer = await postMcp(subject, fetch);
  if (answer.status !== 401 || !isBearerChallenge(answer)) {
    throw fault(`POST /mcp without a token answers ${answer.status}, not 401 with WWW-Authenticate: Bearer.`, ONLY_MCP);
  }
  const { resourceMetadataUrl } = extractWWWAuthenticateParams(answer);
  const said = "POST /mcp without a token is refused: 401, WWW-Authenticate: Bearer.";
  return { said, value: resourceMetadataUrl?.href };
}

/** The ingress lets any bearer token pass, so the server itself has to refuse this one. */
export async function requireTokenRefused(subject: Subject, fetch: Fetch): Promise<{ said: string }> {
  const answer = await postMcp(subject, fetch, `connection-test-${randomToken(16)}`);
  if (answer.status === 401 && isBearerChallenge(answer)) return { said: "The server refuses an invalid token." };
  if (answer.status === 503) {
    const reason = await memberOf(answer, "reason");
    const why = typeof reason === "string" && /^[a-z_]{1,64}$/.test(reason) ? ` (${reason})` : "";
    throw fault(
      `The server cannot check tokens now: it answers 503${why}.`,
      reason === "vendor_credentials_rejected"
        ? "The vendor refuses the server's client: correct VENDOR_CLIENT_ID and VENDOR_CLIENT_SECRET."
        : "It cannot reach its vendor, table or key service. Read its output with deploy logs.",
    );
  }
  const who = answer.ok ? "accepts any caller" : `answers ${answer.status}`;
  throw fault(`The server ${who} with an invalid token; it must answer 401.`, ONLY_MCP);
}

export async function requireInitialize(subject: Subject, fetch: Fetch): Promise<{ said: string }> {
  const answer = await postMcp(subject, fetch, subject.platformToken.reveal());
  if (isBlocked(answer.status)) {
    throw fault(
      `The server answers ${answer.status}: it requires OAuth, and no OAuth client is configured.`,
      "Set `mode` in service.yaml to hosted or pre-registered, and enter the client on the connector's Settings tab.",
      "client_missing",
    );
  }
  if (!answer.ok || !/"result"\s*:/.test(await answer.text())) {
    throw fault(
      `POST /mcp answers initialize with ${answer.status} and without a result.`,
      "Read its output with deploy logs.",
    );
  }
  return { said: "The server answers initialize." };
}

function postMcp({ deploymentUrl }: Subject, fetch: Fetch, token?: string): Promise<Response> {
  return ask(fetch, `${deploymentUrl}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(INITIALIZE),
  });
}

const isBearerChallenge = (answer: Response): boolean =>
  /^Bearer(?:\s|$)/i.test(answer.headers.get("www-authenticate") ?? "");
