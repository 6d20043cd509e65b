/**
 * The client of the `/mcp` bench: gets its users sessions as a platform does, and calls tools as a
 * client of 2026-07-28 does, with every answer checked. The stock client would cost more than the
 * server it drives.
 */
import { createHash } from "node:crypto";
import { fakeCode } from "@oauth-broker/simulators";
import { modernCall } from "../../packages/mcp-auth/src/testing/linking/raw-calls.ts";
import { type Connection, members, random, type Reply, unexpected } from "./connection.ts";

export const CALLBACK = "https://platform.example/oauth/callback";

export type Session = Readonly<Record<"user" | "accessToken" | "refreshToken", string>>;

/** The user has consented at the vendor; the platform posts the vendor's code. */
export async function connect(connection: Connection, user: string): Promise<Session> {
  const grant = { grant_type: "authorization_code", code: fakeCode(user), redirect_uri: CALLBACK };
  // Only the vendor would check the verifier, and this vendor does not.
  return tokens(user, connection, { ...grant, code_verifier: random() });
}

/** Pre-registered mode: the platform itself holds the vendor's token, which is the bearer token. */
export async function connectAtVendor(vendorUrl: string, user: string): Promise<Session> {
  const body = new URLSearchParams({ grant_type: "authorization_code", code: fakeCode(user) });
  const answer = await fetch(`${vendorUrl}/token`, { method: "POST", body });
  const { access_token: accessToken } = (await answer.json()) as { readonly access_token: string };
  return { user, accessToken, refreshToken: "" };
}

/** @throws Error when the old access token comes back */
export async function refresh(connection: Connection, session: Session): Promise<Session> {
  const { user, refreshToken } = session;
  const next = await tokens(user, connection, { grant_type: "refresh_token", refresh_token: refreshToken });
  if (next.accessToken === session.accessToken) throw new Error("a refresh answered the token of before");
  return next;
}

async function tokens(user: string, connection: Connection, form: Record<string, string>): Promise<Session> {
  const reply = await connection.post("/token", { client_id: "platform", ...form }, {});
  const { access_token: accessToken, refresh_token: refreshToken } = members(reply);
  if (typeof accessToken !== "string" || typeof refreshToken !== "string") throw unexpected(reply);
  return { user, accessToken, refreshToken };
}

const JSON_CALL = { accept: "application/json, text/event-stream", "content-type": "application/json" };

let calls = 0;

/**
 * @returns the text of a tool's answer
 * @throws Error for anything but a result, and for the answer to another request
 */
export async function callTool(connection: Connection, accessToken: string, tool: string): Promise<string> {
  const id = (calls += 1);
  const reply = await postCall(connection, accessToken, tool, id);
  const answer = members(reply) as {
    readonly id?: number;
    readonly result?: { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] };
  };
  if (answer.id !== id || answer.result === undefined || answer.result.isError === true) throw unexpected(reply);
  return answer.result.content[0]?.text ?? "";
}

/**
 * A connection that was idle may be closed by the server just then: such a call is made once more.
 *
 * @returns how a call was answered; a result inside of which the tool failed throws
 */
export async function tryTool(connection: Connection, accessToken: string, tool: string) {
  const send = (): Promise<Reply> => postCall(connection, accessToken, tool);
  const reply = await send().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ECONNRESET" && error.code !== "UND_ERR_SOCKET") throw error;
    return send();
  });
  if (reply.status === 200 && reply.body.includes('"isError":true')) throw unexpected(reply);
  const retryAfter = reply.header("retry-after");
  return { status: reply.status, retryAfterSeconds: retryAfter === "" ? undefined : Number(retryAfter) };
}

/** @returns the answer as it came */
export async function postCall(
  connection: Connection,
  accessToken: string,
  tool: string,
  id: number = (calls += 1),
): Promise<Reply> {
  const [request, own] = modernCall(tool, {}, {}, id);
  const headers = { ...own, ...JSON_CALL, authorization: `Bearer ${accessToken}` };
  return connection.send({ method: "POST", path: "/mcp", headers, body: JSON.stringify(request) });
}

/** Words for a user's identity, the same for the same number. */
export function userName(number: number): string {
  return `u${number}-${createHash("sha256").update(String(number)).digest("hex").slice(0, 8)}`;
}
