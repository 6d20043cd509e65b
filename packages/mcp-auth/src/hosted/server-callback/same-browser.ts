/** Who agreed and who comes back from the vendor must be one browser: else an attacker's agreement is a victim's. For finish-callback.ts. */
import { type BindingCookie, isSameText } from "@oauth-broker/oauth-core";
import type { Authorization } from "./authorization-record.ts";

/** @param cookie of this flow, as the browser at the callback has it */
//= bar#AS-8
export function isSameBrowser(cookie: BindingCookie | undefined, { cookieHash }: Authorization): boolean {
  return isSameText(cookie?.hash, cookieHash);
}
