/** The broker's response to a revocation. */
import { processRevocationResponse } from "oauth4webapi";
import { BrokerClientError, invalidResponse } from "../error.ts";
import type { Revoked } from "../types.ts";
import { requireSuccess } from "./answer-error.ts";
import { parseMembers } from "../json.ts";

/** @throws BrokerClientError; oauth4webapi's errors */
//= rfc7009#2.2
export async function readRevoked(answer: Response): Promise<Revoked> {
  try {
    const success = await requireSuccess(answer);
    await processRevocationResponse(success.clone());
    const { revoked } = parseMembers(await success.text()) ?? {};
    if (revoked === "token" || revoked === "grant" || revoked === "already") return { outcome: "revoked", revoked };
  } catch (error) {
    if (!(error instanceof BrokerClientError)) throw error;
    //= rfc7009#2.2.1
    if (error.code !== "unsupported_token_type") throw error;
    return { outcome: "unsupported", help: error.details.help ?? error.description, error };
  }
  throw invalidResponse("malformed", "The broker does not say what it revoked");
}
