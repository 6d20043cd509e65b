/**
 * Calls that wait for their user: the tool, its input and the server's `requestState` lie sealed in
 * the platform's store, bound to the session of the browser that made the call. The page holds the
 * id alone. Each is taken once: a second press of the button does not call the tool twice.
 */
import { type JsonObject, Secret } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import type { Connector } from "../connectors/connector.ts";
import { openSecret, type SealedStore, sealSecret } from "../connectors/connector-secrets.ts";
import { refusal } from "../refusal.ts";
import type { SignedIn } from "../users/session.ts";
import type { ToolCall } from "./agent.ts";
import type { Asked } from "./link-question.ts";

export interface PendingCall {
  readonly call: Pick<ToolCall, "tool" | "input">;
  readonly asked: Asked;
  /** How often the server has asked for this call. */
  readonly round: number;
}

export type PendingCalls = ReturnType<typeof createPendingCalls>;

const KIND = "pending-call";
/** Longer than a server's question lives. */
const LIFETIME_SECONDS = 15 * 60;
/** The bound of the stock client: a server that asks without end is not asked again. */
export const MAX_ROUNDS = 10;

export function createPendingCalls({ records, keys, now }: SealedStore) {
  return {
    /**
     * @returns the id for the page
     * @throws OAuthError vendor_response_invalid when the server has asked too often
     */
    put: async (connector: Connector, session: SignedIn, pending: PendingCall): Promise<string> => {
      if (pending.round > MAX_ROUNDS) {
        const said = "The server asks again and again. The call has ended";
        throw refusal("asks_without_end", said, "vendor_response_invalid");
      }
      const id = randomToken(16);
      const sealed = await sealSecret(keys, new Secret(JSON.stringify(pending)), placeOf(connector, session, id));
      const data: JsonObject = { v: 1, call: sealed };
      const expiresAt = now() + LIFETIME_SECONDS;
      await records.create({ key: keyOf(connector, session, id), stage: "open", data, expiresAt });
      return id;
    },
    /**
     * @throws OAuthError invalid_request for a call of another browser, one that was taken, or one
     *   that has expired
     */
    take: async (connector: Connector, session: SignedIn, id: string): Promise<PendingCall> => {
      const key = keyOf(connector, session, id);
      const sealed = (await records.get(key))?.data["call"];
      if (sealed === undefined) return gone();
      const opened = await openSecret(keys, sealed as JsonObject, placeOf(connector, session, id));
      const once = { stage: "taken", set: {}, remove: ["call"] };
      const { outcome } = await records.advance(key, { stage: "open", expect: {} }, once);
      return outcome === "moved" ? (JSON.parse(opened.reveal()) as PendingCall) : gone();
    },
  };
}

const keyOf = ({ id: connectorId }: Connector, { sessionId }: SignedIn, id: string) => ({
  kind: KIND,
  id: JSON.stringify([connectorId, sessionId, id]),
});

const placeOf = (connector: Connector, { user, sessionId }: SignedIn, id: string): readonly string[] => [
  "a call that waits for its user",
  connector.id,
  user.id,
  sessionId,
  id,
];

function gone(): never {
  throw refusal("call_over", "This call is over. Call the tool again");
}
