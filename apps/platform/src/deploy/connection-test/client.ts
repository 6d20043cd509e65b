/**
 * Compares the connector's settings with the server's mode: whether there is an OAuth client, and
 * whether it is of the kind this server needs.
 */
import { vendorProblem } from "../../connectors/vendor.ts";
import { fault, type Subject } from "./check.ts";

const NEEDED = {
  hosted: { registration: "hosted_server", words: "Authentication to OAuth 2.1 and Registration to hosted server" },
  none: { registration: "none", words: "Authentication and Registration to none" },
} as const;

/** @throws Fault when the settings are for another mode */
export function settingsCheck({ mode, settings }: Subject): { said: string } {
  if (mode === "pre-registered") return clientCheck({ settings });
  const { registration, words } = NEEDED[mode];
  if (settings.registration === registration) return { said: "The connector's settings fit the server." };
  throw fault("The connector's settings are for another kind of server.", `On its Settings tab, set ${words}.`);
}

/**
 * The client of a pre-registered server.
 * @throws Fault client_missing when none is entered
 */
export function clientCheck({ settings }: Pick<Subject, "settings">): { said: string } {
  const { registration, clientId, vendorOrIssuer, authorizationUrl, tokenUrl } = settings;
  if (registration === "hosted_server") {
    throw fault(
      "The connector's settings are for a hosted server, and this one is pre-registered.",
      "On its Settings tab, set Registration to Pre-registered Client.",
    );
  }
  const hasClient = registration === "broker" || (registration === "pre_registered_client" && clientId !== undefined);
  if (!hasClient) {
    throw fault(
      "The server answers 401, and no OAuth client is configured.",
      "On the connector's Settings tab set Authentication to OAuth 2.1 and Registration to Pre-registered Client, enter the client, and deploy again.",
      "client_missing",
    );
  }
  if (vendorOrIssuer === undefined && (authorizationUrl === undefined || tokenUrl === undefined)) {
    throw fault(
      "The place where users authorize is unknown: Authorization URL or Token URL is empty, and there is no vendor or issuer to discover them from.",
      "Enter both URLs, or the vendor or its issuer, on the connector's Settings tab.",
    );
  }
  const problem = registration === "pre_registered_client" ? vendorProblem(settings) : undefined;
  if (problem !== undefined) {
    throw fault(`The connector's ${problem.path} ${problem.problem}.`, "Correct it on the connector's Settings tab.");
  }
  return { said: "An OAuth client is configured." };
}
