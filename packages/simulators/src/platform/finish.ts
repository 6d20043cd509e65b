/** The browser is back at the platform: what is checked, then the code for the tokens. Notes each leg that was reached. */
import type { Clock } from "../clock.ts";
import type { BrokerClient } from "./broker-client.ts";
import { describeProblem } from "./problem.ts";
import { atVendor, type Leg, type Pending, type Session } from "./sessions.ts";

/** What goes wrong becomes the session's notice. @param callback with its query */
export async function finish(
  session: Session,
  callback: URL,
  { vendor, pushed, at }: Pending,
  { broker, now }: { readonly broker: BrokerClient; readonly now: Clock },
): Promise<void> {
  const flowId = callback.searchParams.get("flow_id");
  const asked = {
    leg: "asked",
    at,
    checks: [
      "state and PKCE verifier wait in this browser's own session",
      "request pushed by the backend, not carried by the browser",
    ],
  };
  const returned = { leg: "returned", at: now(), checks: ["state belongs to this browser's session, used once"] };
  const legs: Leg[] = [asked, returned];
  const connection = atVendor(session, vendor);
  connection.flow = { legs, ...(flowId === null ? {} : { flowId }) };
  session.shown = vendor;
  delete session.notice;
  try {
    const parameters = await broker.readCallback(callback, pushed);
    returned.checks.push("iss is the broker");
    connection.tokens = await broker.redeem(parameters, pushed);
    connection.isRevoked = false;
    legs.push({
      leg: "received",
      at: now(),
      checks: [
        "code redeemed with the PKCE verifier of this session",
        "the answer is a well-formed token response",
        // The broker hands an ID token on only after that.
        ...(connection.tokens.idTokenClaims === undefined
          ? []
          : ["ID token verified by the broker: signature, issuer, audience, nonce"]),
      ],
    });
  } catch (error) {
    session.notice = { kind: "problem", problem: await describeProblem(error) };
  }
}
