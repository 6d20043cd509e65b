/** The person `vendor try` waits for: registers the redirect URI at the vendor, goes there, and comes back. */
import { driveConsent, type DriveConsentOptions } from "@oauth-broker/simulators";
import type { VendorSimulator } from "@oauth-broker/simulators/vendors";

export const CLIENT_ID = "own-app";
export const CLIENT_SECRET = "CANARY-own-secret";

export interface Person {
  /** Hears what the tool says. */
  readonly hear: (line: string) => void;
  /** What the listener answered; rejects when the way back was not found. */
  readonly arrived: Promise<string>;
}

/** @param register puts the redirect URI down at the vendor */
export function createPerson(
  register: (redirectUri: string) => void,
  decision: NonNullable<DriveConsentOptions["decision"]> = "approve",
  alter: (callback: URL) => void = () => {},
): Person {
  const { promise: arrived, resolve, reject } = Promise.withResolvers<string>();
  let redirectUri = "";
  const hear = (line: string): void => {
    const told = /^Redirect URI.*: (http\S+)$/m.exec(line)?.[1];
    if (told !== undefined) {
      redirectUri = told;
      register(told);
    }
    const start = /^Open in a browser.*\n(http\S+)$/m.exec(line)?.[1];
    if (start !== undefined) visit(start).then(resolve, reject);
  };
  const visit = async (start: string): Promise<string> => {
    const callback = await driveConsent(start, { decision, stopAt: ({ href }) => href.startsWith(redirectUri) });
    alter(callback);
    return (await fetch(callback)).text();
  };
  return { hear, arrived };
}

export function personAt(
  vendor: VendorSimulator,
  app: object = {},
  ...more: Parameters<typeof createPerson> extends [unknown, ...infer R] ? R : never
): Person {
  return createPerson(
    (redirectUri) => {
      vendor.addClient({ clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, redirectUris: [redirectUri], ...app });
    },
    ...more,
  );
}
