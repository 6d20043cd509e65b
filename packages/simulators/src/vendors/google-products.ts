/**
 * The Workspace MCP servers, their scopes, and how Google's APIs refuse: one error object with
 * `code`, `message`, `status`.
 *
 * Seen 2026-11: the five servers and their scopes. A project outside the
 * Developer Preview Program connects, lists tools, and is refused at the first call
 * (anthropics/claude-code #94834, CopilotKit/OpenBot #132).
 * Recalled: the texts of the other refusals, and `details`.
 */
import type { Context } from "hono";
import { bearerToken } from "./base/clients.ts";
import type { VendorEnv } from "./base/simulator.ts";
import { json } from "./base/members.ts";
import type { GoogleHost, GoogleSettings } from "./google-settings.ts";

const PREFIX = "https://www.googleapis.com/auth/";

/** By product: the scopes of which its server requires at least one. */
const PRODUCTS: Readonly<Record<string, readonly string[]>> = {
  gmail: ["gmail.readonly", "gmail.compose"],
  drive: ["drive.readonly", "drive.file"],
  calendar: ["calendar.calendarlist.readonly", "calendar.events.freebusy", "calendar.events.readonly"],
  chat: [
    "chat.spaces.readonly",
    "chat.memberships.readonly",
    "chat.messages.readonly",
    "chat.messages.create",
    "chat.users.readstate.readonly",
  ],
  people: ["directory.readonly", "userinfo.profile", "contacts.readonly"],
};

export const IDENTITY_SCOPES: ReadonlySet<string> = new Set([
  "openid",
  "email",
  "profile",
  `${PREFIX}userinfo.email`,
  `${PREFIX}userinfo.profile`,
]);

export function isGoogleScope(scope: string): boolean {
  const name = scope.startsWith(PREFIX) ? scope.slice(PREFIX.length) : undefined;
  return (
    IDENTITY_SCOPES.has(scope) || Object.values(PRODUCTS).some((names) => name !== undefined && names.includes(name))
  );
}

/** What a person reads on the consent page. */
export function googleScopeText(scope: string): string {
  if (scope === "openid") return "Confirm who you are";
  if (scope === "email") return "See your e-mail address";
  const name = scope.split("/").at(-1) ?? scope;
  const product = Object.keys(PRODUCTS).find((one) => name.startsWith(`${one}.`));
  if (product === undefined) return "See who you are and whom you know";
  const verb = /readonly|freebusy/.test(name) ? "See" : "See and change";
  return `${verb} your data in ${product.charAt(0).toUpperCase()}${product.slice(1)}`;
}

export function isGmailScope(scope: string): boolean {
  return scope.startsWith(`${PREFIX}gmail.`);
}

/** The refusals of an API, by the name `refuseNext("api", …)` uses. */
export const API_ERRORS: Readonly<Record<string, { code: number; status: string; message: string; reason?: string }>> =
  {
    UNAUTHENTICATED: {
      code: 401,
      status: "UNAUTHENTICATED",
      message: "Request had invalid authentication credentials.",
    },
    PERMISSION_DENIED: { code: 403, status: "PERMISSION_DENIED", message: "The caller does not have permission" },
    SERVICE_DISABLED: {
      code: 403,
      status: "PERMISSION_DENIED",
      message: "The API has not been used in this project before or it is disabled.",
      reason: "SERVICE_DISABLED",
    },
    ACCESS_TOKEN_SCOPE_INSUFFICIENT: {
      code: 403,
      status: "PERMISSION_DENIED",
      message: "Request had insufficient authentication scopes.",
      reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
    },
  };

/**
 * Serves `/{product}/mcp/v1` and its resource metadata; at Google each product has its own host.
 */
export function serveGoogleProducts(host: GoogleHost, settings: GoogleSettings): void {
  for (const [product, names] of Object.entries(PRODUCTS)) {
    const path = `/${product}/mcp/v1`;
    host.app.get(`/.well-known/oauth-protected-resource${path}`, () =>
      json({ resource: host.url + path, authorization_servers: [host.url], scopes_supported: names.map(withPrefix) }),
    );
    host.app.post(path, async (c) => {
      const refused = host.takeRefusal("api");
      if (refused !== undefined) return apiError(c, refused);
      const token = host.tokens.find(bearerToken(c));
      if (token?.kind !== "access" || token.state !== "live") return apiError(c, "UNAUTHENTICATED");
      const call = (await c.req.json().catch(() => ({}))) as { id?: unknown; method?: unknown };
      if (call.method === "initialize" || call.method === "tools/list") return json(rpcAnswer(call, product));
      if (settings.approval !== "approved") return apiError(c, "PERMISSION_DENIED");
      const isScoped = token.grant.scopes.some((scope) => names.map(withPrefix).includes(scope));
      return isScoped ? json(rpcAnswer(call, product)) : apiError(c, "ACCESS_TOKEN_SCOPE_INSUFFICIENT");
    });
  }
}

function withPrefix(name: string): string {
  return PREFIX + name;
}

function rpcAnswer(call: { readonly id?: unknown; readonly method?: unknown }, product: string): object {
  const result =
    call.method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: product, version: "1" } }
      : call.method === "tools/list"
        ? { tools: [{ name: `list_${product}`, inputSchema: { type: "object" } }] }
        : { content: [{ type: "text", text: "[]" }] };
  return { jsonrpc: "2.0", id: call.id ?? null, result };
}

function apiError(c: Context<VendorEnv>, name: string): Response {
  const { code, status, message, reason } = API_ERRORS[name]!;
  const details =
    reason === undefined ? {} : { details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason }] };
  const metadata = new URL(`/.well-known/oauth-protected-resource${c.req.path}`, c.req.url).href;
  const challenge = code === 401 ? { "WWW-Authenticate": `Bearer resource_metadata="${metadata}"` } : {};
  return json({ error: { code, message, status, ...details } }, code, challenge);
}
