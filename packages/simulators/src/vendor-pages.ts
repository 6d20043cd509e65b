/**
 * The sandbox vendor's own pages: sign in, consent, cancel. A Hono app that oidc-provider sends the
 * browser to and that responds with the provider's resume URL. Users have no passwords: the user
 * clicks a sample account.
 */
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import type { Context } from "hono";
import { html } from "hono/html";
import type { Interaction, InteractionResult, Provider } from "oidc-provider/lib/provider.js";
import { PAGE_HEADERS, renderPage, type Markup } from "./layout.ts";

export type AccountId = "user" | "operator";

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly email: string;
  readonly description: string;
}

export const ACCOUNTS: readonly Account[] = [
  { id: "user", name: "Sample user", email: "user@sandbox.example", description: "Someone who connects a tool" },
  {
    id: "operator",
    name: "Sample operator",
    email: "operator@sandbox.example",
    description: "Someone who runs the workspace",
  },
];

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
  return renderPage({
    ...FRAME,
    title: "This request cannot be answered",
    main: html`<section class="card">
      <h1>This request cannot be answered</h1>
      <p>${description}</p>
      ${homeUrl === undefined ? "" : html`<p><a class="button" href="${homeUrl}">Back to where you started</a></p>`}
      <p class="soft">Error code: <code>${code}</code></p>
    </section>`,
  });
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

function signIn(interaction: Interaction): Markup {
  return html`<section class="card">
    <h1>Sign in</h1>
    <p>Choose a sample account. There is no password.</p>
    ${accountForm(`/interaction/${interaction.jti}`)}
  </section>`;
}

/** Sample accounts to choose from. @param hidden further fields of the form */
export function accountForm(action: string, hidden: Markup | "" = ""): Markup {
  return html`<form method="post" action="${action}">
    ${hidden}
    ${ACCOUNTS.map(
      ({ id, name, email, description }) =>
        html`<button class="wide" name="account" value="${id}">
          Continue as ${name}<small>${email} · ${description}</small>
        </button>`,
    )}
    <div class="row"><button class="quiet" name="decision" value="cancel">Cancel</button></div>
  </form>`;
}

function consent(interaction: Interaction, clientName: string): Markup {
  const account = ACCOUNTS.find(({ id }) => id === interaction.session?.accountId);
  const scopes = (interaction.params["scope"] ?? "").split(" ").filter((scope) => scope !== "");
  return html`<section class="card">
    <h1>Allow ${clientName} to connect?</h1>
    <p>You are signed in as <strong>${account?.name ?? "a sample account"}</strong>. It asks to:</p>
    <ul class="plain">
      ${scopes.map((scope) => html`<li>${SCOPE_TEXT[scope] ?? "Use a permission of this vendor"} <code class="soft">${scope}</code></li>`)}
    </ul>
    <form method="post" action="/interaction/${interaction.jti}">
      <div class="row">
        <button name="decision" value="approve">Allow</button
        ><button class="quiet" name="decision" value="cancel">Cancel</button>
      </div>
    </form>
  </section>`;
}

function welcome(): Markup {
  return html`<section class="card">
    <h1>This is the sandbox's vendor</h1>
    <p>
      An OpenID provider that runs beside the broker, so that the whole flow can be tried without an account anywhere.
      Start from the link that the broker printed.
    </p>
  </section>`;
}

async function expiredPage(c: Context<Env>, homeUrl: string | undefined): Promise<Response> {
  const text =
    "This sign-in has expired or belongs to another browser. Go back to where you started and connect again.";
  return c.body(await renderVendorError("invalid_request", text, homeUrl), 400, PAGE_HEADERS);
}

async function show(c: Context<Env>, title: string, main: Markup, status: 200 | 400 = 200): Promise<Response> {
  return c.body(await renderPage({ ...FRAME, title, main }), status, PAGE_HEADERS);
}
