/**
 * Checks before any measurement that the subject does its work: a floor that checks nothing would
 * be cheap and prove nothing, and so would a broker with a missing check.
 */
import { hash } from "node:crypto";
import { type Connection, expectStatus, openConnection, random } from "../../connection.ts";
import { type Actor, createActor, readTokens } from "../../broker-client.ts";
import type { Parties } from "../../services.ts";

/** @throws Error naming what the subject let pass */
export async function requireChecks(url: string, parties: Parties): Promise<void> {
  const connection = openConnection(url);
  try {
    await probe(createActor(url, parties), connection, parties);
  } catch (cause) {
    throw new Error(`${url} does not do what is measured`, { cause });
  } finally {
    await connection.close();
  }
}

async function probe(actor: Actor, connection: Connection, { vendor }: Parties): Promise<void> {
  const pushed = await actor.push(connection);
  const at = await actor.leave(connection, pushed);
  // Spent: another browser gets no second redirect.
  await actor.leave(connection, pushed).then(
    () => {
      throw new Error("request_uri worked twice");
    },
    () => undefined,
  );
  const foreign = `${at.cookie.split("=", 1)[0]}=${random()}`;
  expectStatus(400, await actor.comeBack(connection, { ...at, cookie: foreign }));
  expectStatus(400, await actor.comeBack(connection, { ...at, state: altered(at.state) }));
  const code = actor.readCode(pushed, await actor.comeBack(connection, at));
  expectStatus(400, await actor.comeBack(connection, at));
  expectStatus(401, await actor.redeem(connection, code, pushed.codeVerifier, random()));
  const tokens = readTokens(await actor.redeem(connection, code, pushed.codeVerifier), vendor);
  expectStatus(400, await actor.redeem(connection, code, pushed.codeVerifier));
  await actor.refresh(connection, tokens);

  const [secondCode, verifier] = await actor.authorize(connection);
  expectStatus(400, await actor.redeem(connection, secondCode, hash("sha256", verifier, "base64url")));
}

/** The same except for one character of the signature. */
function altered(state: string): string {
  const at = state.length - 10;
  return `${state.slice(0, at)}${state[at] === "A" ? "B" : "A"}${state.slice(at + 1)}`;
}
