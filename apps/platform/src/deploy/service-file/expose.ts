/**
 * `service.expose`: the paths of a deployed server that the ingress serves without a bearer token.
 * A path, or a path and everything below it (`/.well-known/*`). Used by the reader of service.yaml
 * and, for every request, by the ingress.
 */
import type { Problem } from "@oauth-broker/service/configuration";
import type { Deployment } from "../../connectors/connector.ts";
import { FIELDS } from "./fields.ts";

export const EXPOSED = /^(?:\/[A-Za-z0-9._~-]+)+(?:\/\*)?$/;
/** The paths a platform needs of an authorization server; /register and /revoke are optional. */
export const NEEDED: readonly string[] = ["/.well-known/oauth-authorization-server", "/authorize", "/token"];
/** A segment that leads to another folder. */
export const DOTS = /(?:^|\/)\.\.?(?:\/|$)/;
/** However the server treats the spelling, the tools stay closed. */
export const CLOSED = /^\/[Mm][Cc][Pp](?:\/|$)/;

/** What may follow a `/*`: nothing that a server could interpret as a path outside it. */
const PLAIN = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/;

/** Whether a request's path is one of these. Compares the raw path: `/%74oken` is not `/token`. */
export function isExposed(path: string, expose: readonly string[]): boolean {
  return expose.some((one) =>
    one.endsWith("/*") ? path.startsWith(one.slice(0, -1)) && PLAIN.test(path) : path === one,
  );
}

/** @param mode undefined when unknown: then only the paths themselves are checked */
export function exposeProblems(expose: readonly string[], mode: Deployment["mode"] | undefined): readonly Problem[] {
  if (mode === "pre-registered" || mode === "none") {
    const who = mode === "none" ? "a server without OAuth" : "a server with a pre-registered client";
    return [{ path: "service.expose", problem: `must not be set: ${who} has no path without a bearer token` }];
  }
  const found = expose.flatMap((path, index): Problem[] => {
    const problem = pathProblem(path, expose.indexOf(path) < index);
    return problem === undefined ? [] : [{ path: `service.expose[${index}]`, problem, example: "/token" }];
  });
  if (mode === undefined || found.length > 0) return found;
  const missing = NEEDED.filter((path) => !isExposed(path, expose));
  if (missing.length === 0) return [];
  const problem = `lacks ${missing.join(", ")}: the platform requests these before it has a token`;
  return [{ path: "service.expose", problem, example: FIELDS.service.example }];
}

function pathProblem(path: string, isRepeated: boolean): string | undefined {
  if (isRepeated) return "is listed twice";
  if (!EXPOSED.test(path) || DOTS.test(path)) {
    return "must be a path: segments of letters, digits, . _ ~ -, with /* at its end for all below it";
  }
  if (CLOSED.test(path)) return "must not be exposed: POST /mcp always needs a bearer token";
  return undefined;
}
