/**
 * The Settings tab. Problems are shown at their fields; a client secret goes in and never comes
 * out.
 */
import type { Problem } from "@oauth-broker/service/configuration";
import { html, type Markup } from "@oauth-broker/service/page";
import type { Connector, ConnectorSettings } from "../connectors/connector.ts";
import type { TEXTS } from "../connectors/settings.ts";
import { redirectUriOf } from "../oauth/redirect-uri.ts";
import type { SignedIn } from "../users/session.ts";
import { REGISTRATION_WORDS, tabsOf } from "./connectors.ts";
import { attributesOf, choiceField, fieldWith, inputField } from "./fields.ts";
import { alert, form, platformPage, statusNotice } from "./layout.ts";

export interface SettingsPage {
  readonly connector: Connector;
  /** The values of the fields: as stored, or as just entered. */
  readonly settings: ConnectorSettings;
  readonly platformUrl: string;
  readonly problems?: readonly Problem[];
  readonly isSaved?: boolean;
}

const AUTHENTICATIONS = { oauth_2_1: "OAuth 2.1", none: "None" } as const;

export function settingsPage(
  { connector, settings, platformUrl, problems = [], isSaved = false }: SettingsPage,
  session: SignedIn,
): string {
  const { id, name } = connector;
  const problemOf = (field: string): string | undefined =>
    problems
      .filter(({ path }) => path === field)
      .map(({ problem }) => problem)
      .join("; ") || undefined;
  const text = (field: (typeof TEXTS)[number], label: string, hint?: string): Markup =>
    inputField({ name: field, label, hint, value: settings[field] ?? "", problem: problemOf(field) });
  const fields = [
    choiceField(
      "authentication",
      "Authentication",
      AUTHENTICATIONS,
      settings.authentication,
      problemOf("authentication"),
    ),
    choiceField("registration", "Registration", REGISTRATION_WORDS, settings.registration, problemOf("registration")),
    text(
      "vendorOrIssuer",
      "Vendor or issuer",
      "A vendor of the registry, or the URL of an issuer, to discover the URLs from. Through the broker: also one of its operator's.",
    ),
    text(
      "clientId",
      "Client ID",
      "Through the broker: your own client at the vendor (BYOC); empty means the broker's shared one.",
    ),
    secretField(connector.settings.hasClientSecret, problemOf("clientSecret")),
    text("authorizationUrl", "Authorization URL", "Empty: discovered. {placeholder} is filled from the placeholders."),
    text("tokenUrl", "Token URL", "Empty: discovered. {placeholder} is filled from the placeholders."),
    text("scopes", "OAuth Scopes", "Separated by spaces."),
    inputField({
      name: "placeholders",
      label: "Placeholders",
      hint: "name=value, separated by commas: tenant=acme",
      value: writePlaceholders(settings.placeholders),
      problem: problemOf("placeholders"),
    }),
    html`<button class="button" type="submit">Save</button>`,
  ];
  return platformPage({
    title: `Settings of ${name}`,
    session,
    tabs: tabsOf(connector, "settings", session),
    content: html`${isSaved ? statusNotice("Saved.") : undefined}
${problems.length === 0 ? undefined : alert("Nothing was saved. Correct the fields below.")}
${redirectHint({ ...connector, settings }, platformUrl)}
${form(`/connectors/${id}/settings`, session.cookie, fields)}`,
  });
}

function redirectHint(connector: Connector, platformUrl: string): Markup {
  const { registration } = connector.settings;
  const uri = html`<code>${redirectUriOf(connector, platformUrl)}</code>`;
  if (registration === "broker") {
    return html`<p>At the vendor, your own client has the broker's redirect URI. At the broker, this platform has ${uri}</p>`;
  }
  const own =
    registration === "hosted_server"
      ? html`<p class="quiet">A server with <code>OAUTH_CALLBACK=server</code> has its own redirect URI: <code>platform deploy status</code> prints it.</p>`
      : undefined;
  return html`<p>The redirect URI to register with the vendor: ${uri}</p>${own}`;
}

/** The format that `readPlaceholders` reads. */
function writePlaceholders(placeholders: Readonly<Record<string, string>>): string {
  return Object.entries(placeholders)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}

/** Always empty. */
function secretField(isKept: boolean, problem: string | undefined): Markup {
  const hint = isKept
    ? "A secret is stored. Leave this empty to keep it; it is never shown."
    : "The secret is stored sealed and never shown.";
  const field = { name: "clientSecret", label: "Client Secret", hint, problem };
  const forget = html`<label class="choice"><input type="checkbox" name="forgetSecret" value="yes"> Delete the stored secret</label>`;
  const input = html`<input type="password" ${attributesOf(field)} autocomplete="new-password">`;
  return html`${fieldWith(field, input)}${isKept ? forget : undefined}`;
}
