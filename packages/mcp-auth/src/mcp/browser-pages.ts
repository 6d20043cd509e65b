/**
 * What a person sees who opens an address of the server in a browser: the page at `/`, and the same
 * words instead of the JSON that a client gets with the 401 of `/mcp`.
 */
import type { Answer } from "@oauth-broker/oauth-core/http";
import { html, type Markup } from "@oauth-broker/service/page";
import { pageRoute, type Route } from "@oauth-broker/service/http";
import type { Presentation } from "../presentation/presentation.ts";
import { PATHS } from "../resource/paths.ts";
import type { ServerDefinition } from "../server.ts";
import type { Settings } from "../settings.ts";

export type About = Pick<ServerDefinition, "name" | "title">;

/** The page at `/`. It says nothing that the metadata does not. */
export function homeRoute(about: About, settings: Settings, presentation: Presentation): Route {
  const shown = presentation.page(200, about.title ?? about.name, whatItIs(settings, presentation));
  return pageRoute("GET", "/", () => shown, { quiet: true });
}

/** Whether a person asks: MCP clients ask for JSON or an event stream. */
export function isForUser(method: string, accept: string | undefined): boolean {
  return method === "GET" && (accept ?? "").includes("text/html");
}

/** @param challenge the 401 of `/mcp`, whose status and header stay */
//= bar#RS-1
export function challengePage(
  { status, headers }: Answer,
  about: About,
  settings: Settings,
  presentation: Presentation,
): Answer {
  const title = presentation.texts.home.forClients(about.title ?? about.name);
  const shown = presentation.page(status, title, whatItIs(settings, presentation));
  return { ...shown, headers: { ...shown.headers, "www-authenticate": headers["www-authenticate"] ?? "Bearer" } };
}

function whatItIs(settings: Settings, { texts: { home, connections } }: Presentation): Markup {
  const { deploymentUrl } = settings;
  const address = deploymentUrl === undefined ? undefined : html`<code>${deploymentUrl}${PATHS.mcp}</code>`;
  const isLinking = settings.mode === "hosted" && settings.links.kind === "several";
  return html`${home.whatItIs(address)}
<p>${settings.mode === "hosted" ? home.signInElsewhere : home.platformOnly}</p>
${isLinking ? html`<p><a class="button" href="${PATHS.connections}">${connections.link}</a></p>` : undefined}`;
}
