/**
 * Discovery of a hosted authorization server, in the order in which clients look: the resource's
 * metadata (RFC 9728) by the challenge, by path, at the root, then the server's own (RFC 8414).
 * Every request is without a token, which reveals a global auth middleware.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import * as oauth from "oauth4webapi";
import { requireTypes } from "../../oauth/hosted-server/protected-resource.ts";
import { ask, blockedBy, fault, isBlocked, memberOf, type Subject } from "./check.ts";
import { isExposed } from "../service-file/expose.ts";

const RESOURCE = "/.well-known/oauth-protected-resource";
const AUTHORIZATION_SERVER = "/.well-known/oauth-authorization-server";
const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"] as const;

type Metadata = oauth.AuthorizationServer;

export async function discover(
  subject: Subject,
  named: string | undefined,
  fetch: Fetch,
): Promise<{ said: string; value: Metadata }> {
  await requireImplemented(subject, fetch);
  const described = await resourceMetadataOf(subject, named, fetch);
  const metadata = await serverMetadata(subject, fetch);
  requireEndpoints(subject, metadata);
  const where = described === 0 ? "the server's metadata" : "the metadata of resource and server";
  return { said: `Discovery finds ${where} without a token.`, value: metadata };
}

/** Paths listed under service.expose must exist and must answer without a token. */
async function requireImplemented({ deploymentUrl, expose }: Subject, fetch: Fetch): Promise<void> {
  const paths = expose.filter((path) => !path.endsWith("/*"));
  const answers = await Promise.all(
    paths.map(async (path) => {
      const answer = await ask(fetch, deploymentUrl + path);
      // A route for POST only may answer 404 to GET.
      const last = answer.status === 404 ? await ask(fetch, deploymentUrl + path, { method: "POST" }) : answer;
      // An endpoint that authenticates clients says so to a request without one; a middleware does not.
      //= rfc6749#5.2
      const asksForClient = (await memberOf(last, "error")) === "invalid_client";
      return { path, status: last.status, isBehindAuth: isBlocked(last.status) && !asksForClient };
    }),
  );
  for (const { path, status, isBehindAuth } of answers) {
    if (isBehindAuth) throw blockedBy(status, path);
    if (status === 404) {
      throw fault(
        `${path} is listed under service.expose, and the server has no such path.`,
        "List only the paths that are implemented.",
      );
    }
  }
}

/**
 * @returns how many of the three places answered; a server may omit them but not contradict itself
 */
async function resourceMetadataOf(subject: Subject, named: string | undefined, fetch: Fetch): Promise<number> {
  const { deploymentUrl, expose } = subject;
  const wellKnown = [`${RESOURCE}/mcp`, RESOURCE].filter((path) => isExposed(path, expose));
  const places = new Set([...(named === undefined ? [] : [named]), ...wellKnown.map((path) => deploymentUrl + path)]);
  let found = 0;
  for (const place of places) {
    // One after the other, as a client looks.
    const answer = await ask(fetch, place);
    const { pathname } = new URL(place);
    if (isBlocked(answer.status)) throw blockedBy(answer.status, pathname);
    if (answer.status === 404 && place !== named) continue;
    // oxlint-disable-next-line no-await-in-loop
    await requireOurResource(subject, answer, pathname);
    found += 1;
  }
  return found;
}

async function usable<Document extends object>(document: Promise<Document>): Promise<Document | undefined> {
  return document.then(requireTypes).catch(() => undefined);
}

async function requireOurResource({ deploymentUrl }: Subject, answer: Response, path: string): Promise<void> {
  const resource = `${deploymentUrl}/mcp`;
  const remedy = "Build `resource` and `authorization_servers` from DEPLOYMENT_URL.";
  const metadata = await usable(oauth.processResourceDiscoveryResponse(new URL(resource), answer));
  if (metadata === undefined) throw fault(`${path} does not describe ${resource}.`, remedy);
  if (metadata.authorization_servers?.includes(deploymentUrl) !== true) {
    throw fault(`${path} does not name ${deploymentUrl} as its authorization server.`, remedy);
  }
}

async function serverMetadata({ deploymentUrl }: Subject, fetch: Fetch): Promise<Metadata> {
  const answer = await ask(fetch, deploymentUrl + AUTHORIZATION_SERVER);
  if (isBlocked(answer.status)) throw blockedBy(answer.status, AUTHORIZATION_SERVER);
  if (answer.status !== 200) {
    throw fault(
      `${AUTHORIZATION_SERVER} answers ${answer.status}.`,
      "A hosted authorization server serves its metadata there (RFC 8414). Read its output with deploy logs.",
    );
  }
  const metadata = await usable(oauth.processDiscoveryResponse(new URL(deploymentUrl), answer));
  //= rfc8414#3.3
  // A URL parser ignores a trailing slash; clients compare bytes.
  if (metadata?.issuer === deploymentUrl) return metadata;
  throw fault(
    `${AUTHORIZATION_SERVER} is not valid metadata of ${deploymentUrl}.`,
    "Serve JSON whose `issuer` is DEPLOYMENT_URL, byte for byte, and whose lists are lists.",
  );
}

function requireEndpoints({ deploymentUrl, expose }: Subject, metadata: Metadata): void {
  for (const name of ENDPOINTS) {
    const url = metadata[name];
    const isOptional = name === "registration_endpoint" || name === "revocation_endpoint";
    if (url === undefined && isOptional) continue;
    if (url?.startsWith(`${deploymentUrl}/`) !== true) {
      throw fault(
        `The metadata's ${name} is missing or not below ${deploymentUrl}.`,
        "Build every URL from DEPLOYMENT_URL.",
      );
    }
    const { pathname } = new URL(url);
    if (!isExposed(pathname, expose)) {
      throw fault(`The metadata's ${name} is not exposed.`, `List ${pathname} under service.expose in service.yaml.`);
    }
  }
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true) {
    throw fault(
      "The metadata does not offer PKCE with S256.",
      "Clients refuse a server whose code_challenge_methods_supported lacks S256.",
    );
  }
}
