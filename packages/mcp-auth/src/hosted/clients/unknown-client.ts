/**
 * A browser comes with a `client_id` that is not known here: the page has to say what helps, since
 * the application will send the same id again, and the log which id or host it was. Thrown at
 * /authorize; service/src/http/error-page.ts has the advice by reason.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { documentHost } from "./metadata-document.ts";

/** Ids as servers issue them: no other text of a caller goes to the log as an id. */
const PLAIN_ID = /^[\w.:/~-]{1,200}$/;

export function unknownClient(clientId: string): OAuthError {
  const host = documentHost(clientId);
  if (host !== undefined) {
    return new OAuthError(
      "invalid_client",
      `The application describes itself at ${host}, and this server accepts no descriptions from that host`,
      { reason: "client_host_not_listed", detail: `client_id is at ${host}` },
    );
  }
  const detail = PLAIN_ID.test(clientId) ? `client_id ${clientId}` : `client_id of ${clientId.length} characters`;
  return new OAuthError("invalid_request", "This server does not know the application any more, or never did", {
    reason: "client_unknown",
    detail,
  });
}
