/** Hosted mode: whose callback the vendor redirects users to, and which clients are accepted. */
import { checkRedirectUri } from "@oauth-broker/oauth-core/authorization-server";
import type { CommonSettings, PlatformCallback, ServerCallback } from "../settings.ts";
import { ANY_HOST } from "../hosted/clients/metadata-document.ts";
import { parseStaticClients } from "./clients.ts";
import { checkHost, checkReachableHost } from "./hosts.ts";
import { readChoice, type Reader } from "./reader.ts";
import { ROWS } from "./variables/rows.ts";

/**
 * @returns undefined when DEPLOYMENT_URL, or what the callback needs, is missing or wrong: the
 *   reader holds the reasons
 */
export function readCallback(
  read: Reader,
  { deploymentUrl, egress }: Pick<CommonSettings, "deploymentUrl" | "egress">,
): PlatformCallback | ServerCallback | undefined {
  const platformUrl = readPlatformUrl(read);
  const isPlatformSet = read.value("PLATFORM_OAUTH_CALLBACK_URL") !== undefined;
  const chosen = readChoice(read, "OAUTH_CALLBACK");
  const hasSeveral = read.value("VENDORS") !== undefined;
  if (hasSeveral && chosen === "platform") {
    read.refuse("OAUTH_CALLBACK", "must be server with VENDORS: users come back to this server from each of them");
  }
  const kind = hasSeveral ? "server" : (chosen ?? (isPlatformSet ? "platform" : "server"));
  if (kind === "platform") {
    if (!isPlatformSet) read.refuse("PLATFORM_OAUTH_CALLBACK_URL", "is missing, and OAUTH_CALLBACK is platform");
    const registers = (readChoice(read, "OAUTH_REGISTER") ?? ROWS.OAUTH_REGISTER.default) === "on";
    return platformUrl === undefined ? undefined : { kind, redirectUri: platformUrl, registers };
  }
  const clients = readClients(read);
  const registration = readRegistration(read);
  const clientMetadataHosts = readMetadataHosts(read, egress);
  if (clients.length === 0 && registration === undefined && clientMetadataHosts.length === 0) {
    read.warn(
      "No client can connect: set OAUTH_CLIENTS, OAUTH_CLIENT_METADATA_HOSTS or OAUTH_DYNAMIC_REGISTRATION=open",
    );
  }
  if (registration !== undefined && clientMetadataHosts.length > 0) {
    read.warn(
      "OAUTH_DYNAMIC_REGISTRATION is open beside OAUTH_CLIENT_METADATA_HOSTS: an application of a host that the list leaves out can register instead",
    );
  }
  return deploymentUrl === undefined
    ? undefined
    : { kind, redirectUri: `${deploymentUrl}/callback`, clients, registration, clientMetadataHosts };
}

/** Set in the platform's containers in both modes, so it is checked in both. */
export function readPlatformUrl(read: Reader): string | undefined {
  return read.text("PLATFORM_OAUTH_CALLBACK_URL", checkRedirectUri);
}

function readClients(read: Reader): ServerCallback["clients"] {
  const { clients, problems } = parseStaticClients(read.value("OAUTH_CLIENTS") ?? ROWS.OAUTH_CLIENTS.default);
  for (const problem of problems) read.refuse("OAUTH_CLIENTS", problem);
  return clients;
}

function readMetadataHosts(read: Reader, egress: CommonSettings["egress"]): readonly string[] {
  const hosts = read.list("OAUTH_CLIENT_METADATA_HOSTS", (host) =>
    host === ANY_HOST ? undefined : checkReachableHost(host, egress),
  );
  if (hosts.includes(ANY_HOST)) {
    read.warn(
      "OAUTH_CLIENT_METADATA_HOSTS is *: any application may connect that describes itself on a public host. List the hosts to limit them",
    );
  }
  return hosts;
}

function readRegistration(read: Reader): ServerCallback["registration"] {
  const isOpen = (readChoice(read, "OAUTH_DYNAMIC_REGISTRATION") ?? ROWS.OAUTH_DYNAMIC_REGISTRATION.default) === "open";
  const hosts = read.list("OAUTH_DYNAMIC_REGISTRATION_HOSTS", checkHost);
  if (isOpen && hosts.length === 0) {
    read.warn(
      "OAUTH_DYNAMIC_REGISTRATION is open to clients of any host: OAUTH_DYNAMIC_REGISTRATION_HOSTS limits them",
    );
  }
  if (!isOpen && hosts.length > 0) {
    read.warn("OAUTH_DYNAMIC_REGISTRATION_HOSTS is set, and not used while OAUTH_DYNAMIC_REGISTRATION is off");
  }
  return isOpen ? { hosts } : undefined;
}
