/**
 * Which pages may call which path, defined once for all paths. Clients may be pages of the origins
 * in `ALLOWED_ORIGINS`; metadata is open to every page; our own pages and callbacks only to
 * ourselves. Applied by app.ts to every route but the probes.
 */
import { createCors, readableByAll, type Route, withCors } from "@oauth-broker/service/http";
import { PATHS } from "./resource/paths.ts";
import { createKnownHost, type KnownHost, onlyForUs } from "./mcp/admission/known-host.ts";
import type { Settings } from "./settings.ts";

const CALLED_BY_CLIENTS: ReadonlySet<string> = new Set([PATHS.mcp, PATHS.token, PATHS.register, PATHS.revoke]);
/** They send no referrer, so browsers post their forms with `Origin: null`. */
const FORMS_WITHOUT_ORIGIN: ReadonlySet<string> = new Set([`${PATHS.connect}/:ticket`, PATHS.connections]);
const METADATA: ReadonlySet<string> = new Set([
  PATHS.authorizationServer,
  PATHS.protectedResource,
  PATHS.protectedResource + PATHS.mcp,
]);

/**
 * @returns the guard of a route: by its path, the Host and Origin it accepts, and the pages that
 *   may read it
 */
//= bar#RS-7
//= bar#HT-8
export function createOrigins(
  settings: Pick<Settings, "deploymentUrl" | "listen" | "allowedOrigins">,
): (route: Route) => Route {
  const cors = settings.allowedOrigins.length === 0 ? undefined : createCors(settings.allowedOrigins);
  const isOurs = createKnownHost(settings);
  const isClient = cors === undefined ? isOurs : createKnownHost(settings, cors.allows);
  const isOurPage = createKnownHost(settings, (origin) => origin === "null");
  const isOurHost = createKnownHost(settings, () => true);
  const guardRoute = (route: Route, isKnown: KnownHost): Route => onlyForUs(route, isKnown, settings.deploymentUrl);
  return (route) => {
    if (METADATA.has(route.path)) return guardRoute(readableByAll(route), isOurHost);
    if (FORMS_WITHOUT_ORIGIN.has(route.path)) return guardRoute(route, isOurPage);
    if (!CALLED_BY_CLIENTS.has(route.path)) return guardRoute(route, isOurs);
    return guardRoute(cors === undefined ? route : withCors(route, cors), isClient);
  };
}
