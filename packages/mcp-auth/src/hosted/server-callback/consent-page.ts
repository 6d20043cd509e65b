/**
 * Asked before any browser leaves for the vendor: the vendor knows this server alone and may approve by itself, so that only
 * this page tells the user who will act for them. Everything about the client is its own word, shown as text and cut; no script,
 * nothing loaded. Shown by ask-consent.ts, answered to take-decision.ts.
 */
import type { Parameters, VerifiedRedirect } from "@oauth-broker/oauth-core";
import { type Answer, formPageAnswer } from "@oauth-broker/oauth-core/hono";
import { escapeHtml, page, STYLE_HASH } from "@oauth-broker/oauth-core/service";
import type { ServerClient } from "./client.ts";

export interface ConsentPage {
  readonly client: ServerClient;
  readonly redirect: VerifiedRedirect;
  readonly vendorName: string;
  readonly scope: readonly string[];
  /** The request, which the form posts again as it came. */
  readonly parameters: Parameters;
  readonly csrf: string;
}

const LONGEST_SHOWN = 80;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

//= bar#AS-7
//= bar#AS-10
export function consentPage(shown: ConsentPage, headers: Record<string, string>): Answer {
  const { client, vendorName, scope, parameters, csrf } = shown;
  const name = shownText(client.clientName);
  const { host } = new URL(shown.redirect.uri);
  const vendor = escapeHtml(vendorName);
  const content = [
    `<p>${escapeHtml(name)} asks to use your account at ${vendor} through this server. Continue only if you came from there and want this.</p>`,
    "<dl>",
    fact("Application", name),
    fact("Known by", KNOWN_BY[client.knownBy](client)),
    fact("Leads back to", host),
    fact("Vendor", vendorName),
    scope.length === 0 ? "" : fact("Permissions", scope.join(" ")),
    "</dl>",
    ...warnings(client, host),
    '<form method="post" action="/authorize">',
    ...parameters.names().map((field) => hidden(field, parameters.require(field))),
    hidden("csrf", csrf),
    `<button class="button" type="submit" name="decision" value="approve">Continue to ${vendor}</button>`,
    '<button class="button plain" type="submit" name="decision" value="deny">Cancel</button>',
    "</form>",
  ];
  const title = `Let ${name} use your ${vendorName} account?`;
  return formPageAnswer(page(title, content.filter((line) => line !== "").join("\n")), STYLE_HASH, headers);
}

const KNOWN_BY: Readonly<Record<ServerClient["knownBy"], (client: ServerClient) => string>> = {
  configuration: () => "the operator of this server",
  metadata_document: ({ clientId }) => new URL(clientId).host,
  registration: () => "nobody: it registered itself",
};

function warnings({ knownBy }: ServerClient, host: string): string[] {
  return [
    ...(LOOPBACK.test(host)
      ? [
          "<p><strong>The answer goes to a program on this device. Continue only if you started one just now.</strong></p>",
        ]
      : []),
    ...(knownBy === "registration"
      ? ["<p><strong>The name above is the application's own word. What counts is where it leads back to.</strong></p>"]
      : []),
  ];
}

/** Without what turns the order of letters round or hides them. */
function shownText(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return plain.length > LONGEST_SHOWN ? `${plain.slice(0, LONGEST_SHOWN)}…` : plain;
}

function fact(term: string, value: string): string {
  return `<div><dt>${term}</dt><dd>${escapeHtml(value)}</dd></div>`;
}

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`;
}
