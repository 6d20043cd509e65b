/** Whose a connect flow is: the browser session's that started it, and of no other. Recorded at its start, expected at its end. */
import type { SignedIn } from "../users/session.ts";

//= rfc9700#4.7.1
//= bar#XA-7
export function ownerOfFlow({ sessionId }: SignedIn): string {
  return sessionId;
}
