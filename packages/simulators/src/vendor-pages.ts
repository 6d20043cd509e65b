/**
 * The sandbox vendor's own pages: sign in, consent, cancel. A Hono app that oidc-provider sends the
 * browser to and that responds with the provider's resume URL.
 */
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import type { Context } from "hono";
import { html } from "hono/html";
import type { Interaction, InteractionResult, Provider } from "oidc-provider/lib/provider.js";
import { PAGE_HEADERS, renderPage, type Markup } from "./layout.ts";
import { ACCOUNTS, consentPage, problemPage, signInPage, wayBack, welcomePage } from "./pages.ts";

const SCOPE_TEXT: Readonly<Record<string, string>> = {
  openid: "Confirm who you are",
  profile: "See your name",
  email: "See your e-mail address",
  offline_access: "Stay connected while you are away",
  "api:read": "Read your data",
  "api:write": "Change your data",
};

type Env = { Bindings: HttpBindings };

/**
 * Serves `/interaction/:uid` (GET shows, POST decides) and a page at `/` that says what this is.
 */
export function createVendorPages(provider: Provider, homeUrl?: string): Hono<Env> {
  const app = new Hono<Env>();
  const expired = (c: Context<Env>) => expiredPage(c, homeUrl);

  app.get("/", async (c) => show(c, "Sandbox vendor", welcome()));

  app.get("/interaction/:uid", async (c) => {
    const interaction = await currentInteraction(provider, c);
    if (interaction === undefined) return expired(c);
    if (interaction.prompt.name === "login") return show(c, "Sign in", signIn(interaction));
    const client = await provider.Client.find(interaction.params["client_id"] ?? "");
    return show(c, "Allow access", consent(interaction, client?.clientName ?? "An application"));
  });

  app.post("/interaction/:uid", async (c) => {
    const interaction = await currentInteraction(provider, c);
    if (interaction === undefined) return expired(c);
    const result = await decide(provider, interaction, await c.req.parseBody());
    if (result === undefined) return show(c, "Please choose", welcome(), 400);
    const { incoming, outgoing } = c.env;
    const next = await provider.interactionResult(incoming, outgoing, result, {
      mergeWithLastSubmission: "consent" in result,
    });
    return c.redirect(next, 303);
  });

  return app;
}

/**
 * The page of a request that cannot be answered with a redirect.
 *
 * @param code oidc-provider's error code
 * @param homeUrl the page the user came from, for a way back
 */
export async function renderVendorError(code: string, description: string, homeUrl?: string): Promise<string> {
  const title = "This request cannot be answered";
  const back = homeUrl === undefined ? "" : wayBack(homeUrl);
  return renderPage({ ...FRAME, title, main: html`${problemPage(title, description, code)}${back}` });
}

const FRAME = {
  brand: "Sandbox vendor",
  note: "A practice vendor on this machine. Not a real company, no real account.",
} as const;

/** The interaction of this browser, when the URL names the same. */
async function currentInteraction(provider: Provider, c: Context<Env>): Promise<Interaction | undefined> {
  const found = await provider.interactionDetails(c.env.incoming, c.env.outgoing).catch(() => undefined);
  return found?.jti === c.req.param("uid") ? found : undefined;
}

async function decide(
  provider: Provider,
  interaction: Interaction,
  form: Readonly<Record<string, unknown>>,
): Promise<InteractionResult | undefined> {
  if (form["decision"] === "cancel") return { error: "access_denied", error_description: "The user cancelled" };
  if (interaction.prompt.name === "login") {
    const account = ACCOUNTS.find(({ id }) => id === form["account"]);
    return account === undefined ? undefined : { login: { accountId: account.id } };
  }
  const accountId = interaction.session?.accountId;
  if (form["decision"] !== "approve" || accountId === undefined) return undefined;
  const known = interaction.grantId === undefined ? undefined : await provider.Grant.find(interaction.grantId);
  const grant = known ?? new provider.Grant({ accountId, clientId: interaction.params["client_id"] ?? "" });
  const missing = interaction.prompt.details.missingOIDCScope ?? [];
  if (missing.length > 0) grant.addOIDCScope(missing.join(" "));
  return { consent: { grantId: await grant.save() } };
}

function signIn({ jti }: Interaction): Markup {
  return signInPage("Sign in", html`Choose a sample account. There is no password.`, `/interaction/${jti}`);
}

function consent({ jti, params, session }: Interaction, clientName: string): Markup {
  const scopes = (params["scope"] ?? "").split(" ").filter((scope) => scope !== "");
  return consentPage({
    title: `Allow ${clientName} to connect?`,
    user: ACCOUNTS.find(({ id }) => id === session?.accountId),
    permissions: scopes.map((scope) => ({ scope, text: SCOPE_TEXT[scope] ?? "" })),
    action: `/interaction/${jti}`,
  });
}

function welcome(): Markup {
  return welcomePage(
    "This is the sandbox's vendor",
    "An OpenID provider that runs beside the broker, so that the whole flow can be tried without an account anywhere. Start from the link that the broker printed.",
  );
}

async function expiredPage(c: Context<Env>, homeUrl: string | undefined): Promise<Response> {
  const text =
    "This sign-in has expired or belongs to another browser. Go back to where you started and connect again.";
  return c.body(await renderVendorError("invalid_request", text, homeUrl), 400, PAGE_HEADERS);
}

async function show(c: Context<Env>, title: string, main: Markup, status: 200 | 400 = 200): Promise<Response> {
  return c.body(await renderPage({ ...FRAME, title, main }), status, PAGE_HEADERS);
}
