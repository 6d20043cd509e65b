/**
 * The user that `vendor try` waits for: registers the redirect URI at the vendor, signs in there,
 * and comes back.
 */
import { driveConsent, type DriveConsentOptions } from "@oauth-broker/simulators";
import type { VendorSimulator } from "@oauth-broker/simulators/vendors";

export const CLIENT_ID = "own-app";
export const CLIENT_SECRET = "CANARY-own-secret";

/** `hear` receives the output of the tool; `returned` is the answer of the listener. */
export function userAt(
  vendor: Pick<VendorSimulator, "addClient">,
  decision: NonNullable<DriveConsentOptions["decision"]> = "approve",
  alter: (callback: URL) => void = () => {},
) {
  const { promise: returned, resolve, reject } = Promise.withResolvers<string>();
  let redirectUri = "";
  const hear = (line: string): void => {
    const uri = /^Register this redirect URI.*: (http\S+)$/m.exec(line)?.[1];
    if (uri !== undefined) {
      redirectUri = uri;
      vendor.addClient({ clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, redirectUris: [uri] });
    }
    const start = /^Open in a browser.*\n(http\S+)$/m.exec(line)?.[1];
    if (start !== undefined) visit(start).then(resolve, reject);
  };
  const visit = async (start: string): Promise<string> => {
    const callback = await driveConsent(start, { decision, stopAt: ({ href }) => href.startsWith(redirectUri) });
    alter(callback);
    return (await fetch(callback)).text();
  };
  return { hear, returned };
}
