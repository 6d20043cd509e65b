/** The broker's token response as this package's Tokens, after oauth4webapi has checked it. */
import {
  type AuthorizationServer,
  type Client,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
} from "oauth4webapi";
import type { Clock } from "../ports.ts";
import { invalidResponse } from "../error.ts";
import type { Tokens } from "../types.ts";
import { requireSuccess } from "./answer-error.ts";
import { type AnswerEncryption, readTokenMembers } from "./encrypted-answer.ts";
import { isMembers } from "../json.ts";

export interface AnswerDeps {
  readonly server: AuthorizationServer;
  readonly client: Client;
  readonly encryption: AnswerEncryption | undefined;
  readonly now: Clock;
}

const PROCESS = { code: processAuthorizationCodeResponse, refresh: processRefreshTokenResponse };

/** @throws BrokerClientError; oauth4webapi's errors */
export async function readTokens(
  answer: Response,
  grant: keyof typeof PROCESS,
  { server, client, encryption, now }: AnswerDeps,
): Promise<Tokens> {
  const at = now();
  const members = await readTokenMembers(await requireSuccess(answer, now), encryption);
  const tokenType = typeof members["token_type"] === "string" ? members["token_type"] : "";
  // A vendor may use its own token type; it is passed on, and the backend decides.
  const recognizedTokenTypes = { [tokenType.toLowerCase()]: () => undefined };
  //= rfc6749#5.1
  const checked = await PROCESS[grant](server, client, Response.json(members), { recognizedTokenTypes });
  const { vendor, connection, vendor_id_token: vendorIdToken, vendor_data: vendorData } = members;
  const { refresh_token_expires_in: refreshExpiresIn } = members;
  if (typeof vendor !== "string" || typeof connection !== "string" || !isMembers(vendorData)) {
    throw invalidResponse("malformed", "The broker's answer lacks vendor, connection or vendor_data");
  }
  return {
    accessToken: checked.access_token,
    tokenType,
    ...(checked.expires_in === undefined ? {} : { expiresAt: at + checked.expires_in }),
    ...(checked.refresh_token === undefined ? {} : { refreshToken: checked.refresh_token }),
    ...(typeof refreshExpiresIn === "number" ? { refreshTokenExpiresAt: at + refreshExpiresIn } : {}),
    ...(checked.scope === undefined ? {} : { scope: checked.scope }),
    vendor,
    connection,
    vendorData,
    ...(typeof vendorIdToken === "string" ? { vendorIdToken } : {}),
  };
}
