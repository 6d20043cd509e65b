/** A token endpoint that answers on command: for what happens to a broker while it waits. */
import { type ScriptedAnswer, startScriptedVendor } from "@oauth-broker/simulators";

export async function startHeldVendor() {
  const received = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<ScriptedAnswer>();
  const { url, close } = await startScriptedVendor({
    "*": async () => {
      received.resolve();
      return answer.promise;
    },
  });
  return {
    tokenEndpoint: `${url}/token`,
    /** Resolves when a complete request was received. */
    received: received.promise,
    /**
     * Answers it.
     * @param body default: tokens
     */
    release: (body: object = { access_token: "held-access-token", token_type: "bearer" }) => answer.resolve({ body }),
    close,
  };
}
