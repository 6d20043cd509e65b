/**
 * The defences that are listed because removing them needs meaning: guards.ts finds the others by
 * their citations. A new entry goes into the list of its area; list.test.ts checks what can be
 * checked quickly.
 */
import { AUDIT_DEFENCES } from "./list/audit.ts";
import { BROKER_DEFENCES } from "./list/broker.ts";
import { BROWSER_CLIENT_DEFENCES } from "./list/browser-clients.ts";
import { CALLER_DEFENCES } from "./list/callers.ts";
import { CLIENT_DEFENCES } from "./list/clients.ts";
import { CONNECTOR_DEFENCES } from "./list/connectors.ts";
import { EGRESS_DEFENCES } from "./list/egress.ts";
import { GRANT_DEFENCES } from "./list/grants.ts";
import { LINKED_CALL_DEFENCES } from "./list/linked-calls.ts";
import { LINKING_DEFENCES } from "./list/linking.ts";
import { MCP_CLIENT_DEFENCES } from "./list/mcp-clients.ts";
import { LISTENER_DEFENCES } from "./list/listener.ts";
import { MCP_SERVER_DEFENCES } from "./list/mcp-server.ts";
import { OWNERSHIP_DEFENCES } from "./list/ownership.ts";
import { PLATFORM_DEFENCES } from "./list/platform.ts";
import { PROTOCOL_DEFENCES } from "./list/protocol.ts";
import { RATE_LIMIT_DEFENCES } from "./list/rate-limits.ts";
import { SERVER_STEP_DEFENCES } from "./list/server-steps.ts";
import { SESSION_DEFENCES } from "./list/sessions.ts";
import { SHARE_DEFENCES } from "./list/shares.ts";
import { SHARING_DEFENCES } from "./list/sharing.ts";
import { STORED_KEY_DEFENCES } from "./list/stored-keys.ts";
import { TOKEN_STORE_DEFENCES } from "./list/token-store.ts";
import { VENDOR_ANSWER_DEFENCES } from "./list/vendor-answers.ts";
import { VENDOR_CLIENT_DEFENCES } from "./list/vendor-client.ts";
import type { DefencesByFile, Mutation } from "./mutation.ts";

const LISTS: readonly DefencesByFile[] = [
  AUDIT_DEFENCES,
  BROKER_DEFENCES,
  BROWSER_CLIENT_DEFENCES,
  CALLER_DEFENCES,
  CLIENT_DEFENCES,
  CONNECTOR_DEFENCES,
  EGRESS_DEFENCES,
  GRANT_DEFENCES,
  LINKED_CALL_DEFENCES,
  LINKING_DEFENCES,
  MCP_CLIENT_DEFENCES,
  LISTENER_DEFENCES,
  MCP_SERVER_DEFENCES,
  OWNERSHIP_DEFENCES,
  SHARING_DEFENCES,
  PLATFORM_DEFENCES,
  PROTOCOL_DEFENCES,
  RATE_LIMIT_DEFENCES,
  SERVER_STEP_DEFENCES,
  SESSION_DEFENCES,
  SHARE_DEFENCES,
  STORED_KEY_DEFENCES,
  TOKEN_STORE_DEFENCES,
  VENDOR_ANSWER_DEFENCES,
  VENDOR_CLIENT_DEFENCES,
];

export const MUTATIONS: readonly Mutation[] = LISTS.flatMap((list) =>
  Object.entries(list).flatMap(([file, defences]) =>
    Object.entries(defences).map(([defence, listed]) => ({
      defence,
      file,
      tests: [file.replace(/\.ts$/, ".test.ts")],
      ...listed,
    })),
  ),
);
