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
import type { VendorHost } from "./base/host.ts";
import { json } from "./base/members.ts";
import type { SimulatedClient, VendorEnv } from "./base/simulator.ts";

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

/** The refusals of an API, by the name `refuseNext("api", …)` uses: status, name and text. */
export const API_ERRORS: Readonly<Record<string, readonly [code: number, status: string, message: string]>> = {
  UNAUTHENTICATED: [401, "UNAUTHENTICATED", "Request had invalid authentication credentials."],
  PERMISSION_DENIED: [403, "PERMISSION_DENIED", "The caller does not have permission"],
  SERVICE_DISABLED: [403, "PERMISSION_DENIED", "The API has not been used in this project before or it is disabled."],
  ACCESS_TOKEN_SCOPE_INSUFFICIENT: [403, "PERMISSION_DENIED", "Request had insufficient authentication scopes."],
};

/**
 * Serves `/{product}/mcp/v1` and its resource metadata; at Google each product has its own host.
 *
 * @param isApproved whether the project is in the preview
 */
export function serveGoogleProducts(host: VendorHost<SimulatedClient>, isApproved: () => boolean): void {
  for (const [product, names] of Object.entries(PRODUCTS)) {
    const path = `/${product}/mcp/v1`;
    const scopes = names.map((name) => PREFIX + name);
    host.app.get(`/.well-known/oauth-protected-resource${path}`, () =>
      json({ resource: host.url + path, authorization_servers: [host.url], scopes_supported: scopes }),
    );
    host.app.post(path, async (c) => {
      const refused = host.takeRefusal("api");
      if (refused !== undefined) return apiError(c, refused);
      const token = host.access(c);
      if (token === undefined) return apiError(c, "UNAUTHENTICATED");
      const call = (await c.req.json().catch(() => ({}))) as { id?: unknown; method?: unknown };
      const answer = () => json({ jsonrpc: "2.0", id: call.id ?? null, result: resultOf(call.method, product) });
      if (call.method === "initialize" || call.method === "tools/list") return answer();
      if (!isApproved()) return apiError(c, "PERMISSION_DENIED");
      const isScoped = token.grant.scopes.some((scope) => scopes.includes(scope));
      return isScoped ? answer() : apiError(c, "ACCESS_TOKEN_SCOPE_INSUFFICIENT");
    });
  }
}

function resultOf(method: unknown, product: string): object {
  if (method === "initialize") {
    return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: product, version: "1" } };
  }
  if (method === "tools/list") return { tools: [{ name: `list_${product}`, inputSchema: { type: "object" } }] };
  return { content: [{ type: "text", text: "[]" }] };
}

function apiError(c: Context<VendorEnv>, name: string): Response {
  const [code, status, message] = API_ERRORS[name]!;
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: name };
  const details = name === status ? {} : { details: [info] };
  const metadata = new URL(`/.well-known/oauth-protected-resource${c.req.path}`, c.req.url).href;
  const challenge = code === 401 ? { "WWW-Authenticate": `Bearer resource_metadata="${metadata}"` } : {};
  return json({ error: { code, message, status, ...details } }, code, challenge);
}
