/**
 * Shown before the browser is redirected to the vendor: the vendor sees only this server and may
 * approve without asking, so only this page shows the user which client will act for them.
 * Everything about the client is unverified, shown as truncated text; no script, nothing loaded.
 * Shown and answered in authorize.ts.
 */
import type { VerifiedRedirect } from "@oauth-broker/oauth-core/protocol";
import { type Answer, formPageAnswer } from "@oauth-broker/oauth-core/http";
import { fact, hidden, html, type Markup, page, STYLE_HASH } from "@oauth-broker/service/page";
import type { ServerClient } from "../clients/client.ts";

export interface ConsentPage {
  readonly client: ServerClient;
  readonly redirect: VerifiedRedirect;
  /** Our host, as the user sees it in the address bar. */
  readonly serverHost: string;
  /** The vendor that signs the user in. */
  readonly vendorName: string;
  readonly scope: readonly string[];
  /** With `VENDORS`: the scope by vendor. */
  readonly permissions?: readonly VendorPermissions[];
  /** The request, which the form posts again unchanged. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly csrf: string;
}

/** What a session permits at one of several vendors. */
export interface VendorPermissions {
  readonly vendorName: string;
  /** The vendor's own tokens. */
  readonly scope: readonly string[];
  /** Users sign in there. */
  readonly signsIn: boolean;
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** @param show a twin passes a weaker one: docs/decisions/0006 */
//= bar#AS-7
//= bar#AS-10
export function consentPage(shown: ConsentPage, headers: Record<string, string>, show = shownText): Answer {
  const { client, serverHost, vendorName, scope, permissions, fields, csrf } = shown;
  const { uri } = shown.redirect;
  const name = show(client.clientName);
  const { host } = new URL(uri);
  const accounts = permissions === undefined ? `${vendorName} account` : accountsOf(permissions);
  const asking = askingName(client, name);
  const content = html`${asking === name ? undefined : hostsFirst(asking, host)}
<p>${asking} asks to use your ${accounts} through <strong>${serverHost}</strong>. Continue only if you came from this application and want it.</p>
${LOOPBACK.test(host) ? LOOPBACK_WARNING : undefined}
${client.knownBy === "registration" ? NAME_WARNING : undefined}
<dl>
${fact("Application", name)}
${fact("Known by", KNOWN_BY[client.knownBy](client))}
${fact("Leads back to", html`${host}<br><code class="quiet">${show(uri, LONGEST_URI)}</code>`)}
${permissions === undefined ? factsOfOne(vendorName, scope) : permissions.map(factOf)}
</dl>${permissions?.some(({ signsIn }) => !signsIn) === true ? linkedLater(vendorName) : undefined}
<form method="post" action="/authorize">
${fields.map(([field, value]) => hidden(field, value))}
${hidden("csrf", csrf)}
<button class="button" type="submit" name="decision" value="approve">Continue to ${vendorName}</button>
<button class="button plain" type="submit" name="decision" value="deny">Cancel</button>
</form>
<p class="quiet">You will be asked again the next time an application wants to connect.</p>`;
  return formPageAnswer(page(`Let ${asking} use your ${accounts}?`, content), STYLE_HASH, headers);
}

const LONGEST_URI = 300;

/**
 * A document may claim any name; the host it is on, and the host the answer goes to, it cannot
 * choose. `URL` has them as A-labels, in which no letter looks like another.
 *
 * @returns the host of the document; for any other client its name
 */
//= bar#AS-10
export function askingName({ clientId, knownBy }: ServerClient, name: string): string {
  return knownBy === "metadata_document" ? new URL(clientId).host : name;
}

function hostsFirst(documentHost: string, redirectHost: string): Markup {
  return html`<p>An application at <strong>${documentHost}</strong> asks; the answer goes to <strong>${redirectHost}</strong>.</p>`;
}

function factsOfOne(vendorName: string, scope: readonly string[]): Markup {
  return html`${fact("Vendor", vendorName)}
${scope.length === 0 ? undefined : fact("Permissions", scope.join(" "))}`;
}

function factOf({ vendorName, scope, signsIn }: VendorPermissions): Markup {
  const none = signsIn ? "who you are" : "as you grant them there";
  return fact(`Permissions at ${vendorName}`, scope.length === 0 ? none : scope.join(" "));
}

function accountsOf(permissions: readonly VendorPermissions[]): string {
  const names = permissions.map(({ vendorName }) => vendorName);
  const last = names.at(-1) ?? "";
  return names.length === 1 ? `${last} account` : `${names.slice(0, -1).join(", ")} and ${last} accounts`;
}

function linkedLater(signInName: string): Markup {
  return html`
<p>You sign in at ${signInName} now. Your accounts at the others are linked later: you are asked for each when the application first needs it.</p>`;
}

/** Who vouches for a client, in words. */
export const KNOWN_BY: Readonly<Record<ServerClient["knownBy"], (client: ServerClient) => string>> = {
  configuration: () => "the operator of this server",
  metadata_document: ({ clientId }) => `its own description at ${new URL(clientId).host}`,
  registration: () => "its own registration, which is unverified",
};

const LOOPBACK_WARNING = html`<p><strong>The answer goes to a program on this computer. Continue only if you started one just now.</strong></p>`;
const NAME_WARNING = html`<p><strong>The application chose this name itself. Check where it leads back to.</strong></p>`;

const LONGEST_SHOWN = 80;
/**
 * Controls, characters without a glyph (direction, joiners, fillers, tags, selectors), separators,
 * private use, and the empty braille cell.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]/gu;
/** More than two marks on one letter overlap the lines around it. */
const MARKS = /(\p{M}{2})\p{M}+/gu;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Makes an untrusted name fit for a page that users decide by: one line, truncated, without
 * characters that hide or reorder letters.
 *
 * @param text untrusted
 * @returns never empty; not escaped
 */
//= bar#AS-10
export function shownText(text: string, longest = LONGEST_SHOWN): string {
  const plain = text.toWellFormed().replace(UNSEEN, " ").replace(MARKS, "$1").replace(/\s+/g, " ").trim();
  if (plain === "") return "An application without a name";
  const letters = Array.from(plain);
  const cut = letters.length > longest ? `${letters.slice(0, longest).join("")}…` : plain;
  // First-strong isolate: keeps the order of the surrounding sentence.
  return RIGHT_TO_LEFT.test(cut) ? `\u2068${cut}\u2069` : cut;
}
