/**
 * Google's authorization endpoint: `GET /o/oauth2/v2/auth`.
 *
 * Seen 2026-11 (catalogue `google`): access_type, prompt,
 * include_granted_scopes, S256, granted scopes may be fewer, a refresh token only with offline and
 * a consent page, the 403 page for users who are not test users.
 * Recalled: which mistakes end on a page (a wrong client, redirect URI or scope does), and `scope`,
 * `authuser` and `prompt` on the callback.
 */
import type { Context } from "hono";
import { html } from "hono/html";
import type { Codes } from "./base/codes.ts";
import type { ConsentOutcome, VendorUser } from "./base/consent.ts";
import { callbackUrl } from "./base/host.ts";
import { queryMembers, type Members } from "./base/members.ts";
import { problemPage } from "./base/pages.ts";
import { challengeOf } from "./base/pkce.ts";
import type { SimulatedClient, VendorEnv } from "./base/simulator.ts";
import { newGrant } from "./base/tokens.ts";
import { googleScopeText, IDENTITY_SCOPES, isGoogleScope } from "./google-products.ts";
import type { GoogleCode, GoogleConsents, GoogleHost, GoogleSettings } from "./google-settings.ts";

export const GOOGLE_AUTHORIZATION_ERRORS: readonly string[] = [
  "access_denied",
  "admin_policy_enforced",
  "org_internal",
  "disallowed_useragent",
];

export interface GoogleParts {
  readonly host: GoogleHost;
  readonly settings: GoogleSettings;
  readonly consents: GoogleConsents;
  readonly codes: Codes<GoogleCode>;
}

interface AuthorizationRequest {
  readonly client: SimulatedClient;
  readonly query: Members;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

export function serveGoogleAuthorize(parts: GoogleParts): void {
  const { host, settings, consents } = parts;
  host.app.get("/o/oauth2/v2/auth", async (c) => {
    const refused = host.takeRefusal("authorization");
    const request = await readRequest(parts, c);
    if (request instanceof Response) return request;
    const { client, query, redirectUri, scopes } = request;
    const back = (answer: Readonly<Record<string, string | undefined>>) =>
      callbackUrl(redirectUri, { state: query.get("state"), ...answer });
    if (refused !== undefined) return block(parts, c, refused, back({ error: refused }));
    const isConsentAsked = (query.get("prompt") ?? "").split(" ").includes("consent");
    return host.consent.ask(c, {
      app: client.name ?? client.clientId,
      permissions: scopes
        .filter((scope) => IDENTITY_SCOPES.has(scope))
        .map((scope) => ({ scope, text: googleScopeText(scope) })),
      questions: () => html`${scopes.filter((scope) => !IDENTITY_SCOPES.has(scope)).map(tickBox)}`,
      isAllowedBefore: (user) =>
        !isConsentAsked && scopes.every((scope) => consents.of(user.id, client.clientId).has(scope)),
      onAllow: (user, form) =>
        settings.publishing === "testing" && !settings.testUsers.includes(user.id)
          ? notATestUser()
          : { redirect: back(allow(parts, request, user, form)) },
      onCancel: () => ({ redirect: back({ error: "access_denied" }) }),
    });
  });
}

/** @returns a page when nothing can be sent back to the app */
async function readRequest({ host }: GoogleParts, c: Context<VendorEnv>): Promise<AuthorizationRequest | Response> {
  const query = queryMembers(c);
  const client = host.clients.find(query.get("client_id"));
  if (client === undefined) return host.consent.refuse(c, "The OAuth client was not found.", "invalid_client", 401);
  const redirectUri = query.get("redirect_uri") ?? "";
  if (!client.redirectUris.includes(redirectUri)) {
    return host.consent.refuse(c, "The redirect URI is not one of this app's.", "redirect_uri_mismatch");
  }
  const scopes = [...new Set((query.get("scope") ?? "").split(" ").filter((scope) => scope !== ""))];
  if (scopes.length === 0) return host.consent.refuse(c, "Missing required parameter: scope", "invalid_request");
  if (!scopes.every(isGoogleScope)) {
    return host.consent.refuse(c, "Some requested scopes were invalid.", "invalid_scope");
  }
  const isOther =
    query.get("response_type") !== "code" ||
    !["online", "offline"].includes(query.get("access_type") ?? "online") ||
    !["S256", "plain"].includes(query.get("code_challenge_method") ?? "plain");
  if (isOther) return host.consent.refuse(c, "A parameter has a value that is not known.", "invalid_request");
  return { client, query, redirectUri, scopes };
}

function allow(
  { settings, consents, codes }: GoogleParts,
  { client, query, redirectUri, scopes }: AuthorizationRequest,
  user: VendorUser,
  form: URLSearchParams,
): Record<string, string | undefined> {
  const isPageShown = form.has("decision");
  const ticked = new Set(form.getAll("scope").filter((scope) => !settings.unticked.includes(scope)));
  const allowed = scopes.filter((scope) => !isPageShown || IDENTITY_SCOPES.has(scope) || ticked.has(scope));
  consents.add(user.id, client.clientId, allowed);
  const isIncremental = query.get("include_granted_scopes") === "true";
  const granted = isIncremental ? [...consents.of(user.id, client.clientId)] : allowed;
  const code = codes.issue({
    grant: newGrant({ user: user.id, clientId: client.clientId, scopes: granted }),
    redirectUri,
    challenge: challengeOf(query),
    nonce: query.get("nonce"),
    isOffline: isPageShown && query.get("access_type") === "offline",
  });
  return { code, scope: granted.join(" "), authuser: "0", prompt: isPageShown ? "consent" : "none" };
}

async function block(
  { host, settings }: GoogleParts,
  c: Context<VendorEnv>,
  error: string,
  callback: string,
): Promise<Response> {
  const isPage = error === "disallowed_useragent" || (error !== "access_denied" && settings.blockedShownAs === "page");
  if (!isPage) return c.redirect(callback, 302);
  const status = error === "admin_policy_enforced" ? 400 : 403;
  return host.consent.refuse(c, "Access blocked by the organization or by Google's policies.", error, status);
}

function notATestUser(): ConsentOutcome {
  const title = "Access blocked";
  const text = "This app has not completed the verification process and can only be used by its test users.";
  return { title, page: problemPage(title, text, "access_denied"), status: 403 };
}

function tickBox(scope: string) {
  return html`<label
    ><input type="checkbox" name="scope" value="${scope}" checked />
    <span>${googleScopeText(scope)} <code class="soft">${scope}</code></span></label
  >`;
}
