/** A token endpoint that answers on command: for what happens to a broker while it waits. */
import { type ScriptedAnswer, startScriptedVendor } from "@oauth-broker/simulators";

export interface HeldVendor {
  readonly tokenEndpoint: string;
  /** Resolves when a complete request was received. */
  readonly received: Promise<void>;
  /**
   * Answers it.
   * @param answer default: tokens
   */
  release(answer?: object): void;
  close(): Promise<void>;
}

export async function startHeldVendor(): Promise<HeldVendor> {
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
    received: received.promise,
    release: (body = { access_token: "held-access-token", token_type: "bearer" }) => answer.resolve({ body }),
    close,
  };
}
