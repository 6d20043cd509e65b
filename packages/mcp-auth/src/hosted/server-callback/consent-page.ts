/**
 * Shown before the browser is redirected to the vendor: the vendor sees only this server and may
 * approve without asking, so only this page shows the user which client will act for them.
 * Everything about the client is unverified, shown as truncated text; no script, nothing loaded.
 * Shown and answered in authorize.ts.
 */
import type { VerifiedRedirect } from "@oauth-broker/oauth-core/authorization-server";
import type { Answer } from "@oauth-broker/oauth-core/http";
import { fact, hidden, html, type Markup } from "@oauth-broker/service/page";
import { shownText } from "../../presentation/shown-text.ts";
import { PATHS } from "../../resource/paths.ts";
import type { Presentation } from "../../presentation/presentation.ts";
import type { PageTexts } from "../../presentation/texts/english.ts";
import type { ServerClient } from "../clients/client.ts";
import { UNNAMED } from "../clients/client-metadata.ts";

/** `vendor` signs the user in. */
export interface ConsentPage extends Omit<VendorPermissions, "signsIn"> {
  readonly presentation: Presentation;
  readonly client: ServerClient;
  readonly redirect: VerifiedRedirect;
  /** Our host, as the user sees it in the address bar. */
  readonly serverHost: string;
  /** With `VENDORS`: the scope by vendor. */
  readonly permissions?: readonly VendorPermissions[];
  /** The request, which the form posts again unchanged. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly csrf: string;
}

/** What a session permits at one of several vendors. */
export interface VendorPermissions {
  /** The id. */
  readonly vendor: string;
  readonly vendorName: string;
  /** The vendor's own tokens. */
  readonly scope: readonly string[];
  /** Users sign in there. */
  readonly signsIn: boolean;
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

//= bar#AS-7
//= bar#AS-10
export function consentPage(shown: ConsentPage, headers: Record<string, string>): Answer {
  const { client, serverHost, vendorName, permissions, fields, csrf, presentation } = shown;
  const { consent, labels } = presentation.texts;
  const { uri } = shown.redirect;
  const name = applicationName(client, presentation.texts);
  const { host } = new URL(uri);
  const vendors = permissions === undefined ? [vendorName] : permissions.map((one) => one.vendorName);
  const asking = askingName(client, name);
  const content = html`${asking === name ? undefined : consent.hosts(asking, host)}
${requestOf(consent.asks(asking, vendors, serverHost), warningOf(client, LOOPBACK.test(host), consent), consent)}
<dl>
${factsOfApplication(client, presentation.texts)}
${fact(labels.leadsBackTo, html`${host}<br><code class="quiet">${shownText(uri, LONGEST_URI)}</code>`)}
${permissions === undefined ? factsOfOne(shown) : permissions.map((one) => factOf(one, presentation))}
</dl>${permissions?.some(({ signsIn }) => !signsIn) === true ? html`<p>${consent.linkedLater(vendorName)}</p>` : undefined}
${decisionForm(PATHS.authorize, [...fields, ["csrf", csrf]], vendorName, consent)}
<p class="quiet">${consent.askedAgain}</p>`;
  return presentation.formPage(consent.title(asking, vendors), content, headers);
}

/** The buttons of a page that asks its user: what `readDecision` reads. */
export function decisionForm(
  action: string,
  fields: ConsentPage["fields"],
  vendorName: string,
  { continueTo, cancel }: PageTexts["consent"],
): Markup {
  return html`<form method="post" action="${action}">
${fields.map(([name, value]) => hidden(name, value))}
<button class="button" type="submit" name="decision" value="approve">${continueTo(vendorName)}</button>
<button class="button plain" type="submit" name="decision" value="deny">${cancel}</button>
</form>`;
}

/** The lines that say which application asks, and who vouches for it. */
export function factsOfApplication(client: ServerClient, texts: PageTexts): Markup {
  const { clientId, knownBy } = client;
  const voucher =
    knownBy === "metadata_document" ? texts.knownBy.metadataDocument(new URL(clientId).host) : texts.knownBy[knownBy];
  return html`${fact(texts.labels.application, applicationName(client, texts))}
${fact(texts.labels.knownBy, voucher)}`;
}

/** The name that an application gave itself, fit to be shown. */
export function applicationName(
  { clientName }: Pick<ServerClient, "clientName">,
  { unnamedApplication }: Pick<PageTexts, "unnamedApplication">,
): string {
  return clientName === UNNAMED ? unnamedApplication : shownText(clientName) || unnamedApplication;
}

const LONGEST_URI = 300;

/**
 * A document may claim any name; the host it is on, and the host the answer goes to, it cannot
 * choose. `URL` has them as A-labels, in which no letter looks like another.
 *
 * @returns the host of the document; for any other client its name
 */
export function askingName({ clientId, knownBy }: ServerClient, name: string): string {
  //= bar#AS-10
  return knownBy === "metadata_document" ? new URL(clientId).host : name;
}

/** What is asked, and once when to continue: a warning says it too. */
function requestOf(asks: Markup, warning: string | undefined, { onlyIf }: PageTexts["consent"]): Markup {
  if (warning === undefined) return html`<p>${asks} ${onlyIf}</p>`;
  return html`<p>${asks}</p>
<p><strong>${warning}</strong></p>`;
}

/** What the user can check. */
function warningOf(
  { knownBy }: ServerClient,
  isOnThisComputer: boolean,
  { onThisComputer, choseItsName }: PageTexts["consent"],
): string | undefined {
  const isOwnWord = knownBy === "registration";
  if (isOnThisComputer) return onThisComputer(isOwnWord);
  return isOwnWord ? choseItsName : undefined;
}

function factsOfOne({ vendor, vendorName, scope, presentation }: ConsentPage): Markup {
  const { labels } = presentation.texts;
  return html`${fact(labels.vendor, vendorName)}
${scope.length === 0 ? undefined : fact(labels.permissions, presentation.scopes(vendor, scope))}`;
}

function factOf({ vendor, vendorName, scope, signsIn }: VendorPermissions, presentation: Presentation): Markup {
  const { labels, consent } = presentation.texts;
  const none = signsIn ? consent.identityOnly : consent.grantedThere;
  return fact(labels.permissionsAt(vendorName), scope.length === 0 ? none : presentation.scopes(vendor, scope));
}
