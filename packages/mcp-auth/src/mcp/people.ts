/**
 * What a person sees who opens an address of the server in a browser: the page at `/`, and the same
 * words instead of the JSON that a client gets with the 401 of `/mcp`.
 */
import { type Answer, pageAnswer } from "@oauth-broker/oauth-core/http";
import { html, type Markup, page, STYLE_HASH } from "@oauth-broker/service/page";
import type { Route } from "@oauth-broker/service/http";
import { PATHS } from "../resource/paths.ts";
import type { ServerDefinition } from "../server.ts";
import type { Settings } from "../settings.ts";

export type About = Pick<ServerDefinition, "name" | "title">;

/** The page at `/`. It says nothing that the metadata does not. */
export function homeRoute(about: About, settings: Settings): Route {
  const text = page(about.title ?? about.name, whatItIs(settings));
  return { method: "GET", path: "/", surface: "browser", quiet: true, handle: () => pageAnswer(200, text, STYLE_HASH) };
}

/** Whether a person asks: MCP clients ask for JSON or an event stream. */
export function isForUser(method: string, accept: string | undefined): boolean {
  return method === "GET" && (accept ?? "").includes("text/html");
}

/** @param challenge the 401 of `/mcp`, whose status and header stay */
//= bar#RS-1
export function challengePage({ status, headers }: Answer, about: About, settings: Settings): Answer {
  const text = page(`${about.title ?? about.name} is for MCP clients`, whatItIs(settings));
  const shown = pageAnswer(status, text, STYLE_HASH);
  return { ...shown, headers: { ...shown.headers, "www-authenticate": headers["www-authenticate"] ?? "Bearer" } };
}

function whatItIs(settings: Settings): Markup {
  const { deploymentUrl } = settings;
  const address =
    deploymentUrl === undefined
      ? html`<code>${PATHS.mcp}</code> at this address`
      : html`<code>${deploymentUrl}${PATHS.mcp}</code>`;
  const signIn =
    settings.mode === "hosted"
      ? html`<p>The application sends you here to sign in. You cannot sign in on this page.</p>`
      : html`<p>A platform uses this server for you. You cannot sign in here.</p>`;
  const isLinking = settings.mode === "hosted" && settings.links.kind === "several";
  return html`<p>This is an MCP server: a program that assistants and agents use, not a website. To use it, add ${address} to your application as a server.</p>
${signIn}
${isLinking ? html`<p><a class="button" href="${PATHS.connections}">Your connections</a></p>` : undefined}`;
}
