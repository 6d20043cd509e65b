/**
 * The page shown before the browser leaves for a vendor whose credentials clients of several owners
 * share. The vendor sees only the broker, so no other page shows the user who will receive the
 * tokens. A plain form without script. flows/authorize.ts shows it and reads its answer.
 */
import { type Answer, formPageAnswer } from "@oauth-broker/oauth-core/http";
import type { Vendor } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig } from "../config.ts";
import { fact, hidden, html, type Markup, page, STYLE_HASH } from "@oauth-broker/service/page";

export interface OwnerPage {
  readonly client: ClientConfig;
  readonly vendor: Pick<Vendor, "name" | "scopeMeanings">;
  /** Its redirect URI is one that the client has registered. */
  readonly flow: { readonly scope: readonly string[]; readonly redirectUri: string };
  readonly requestUri: string;
  readonly csrf: string;
  readonly flowId: string;
}

/**
 * A vendor may ignore a scope it does not know, so that the words are the client's choice: one a
 * line, as code, they cannot be read as one of our sentences. All of them, and whole, so that none
 * hides behind others; vendor-choice/request.ts bounds their length together. Beside those that the
 * entry knows stands its sentence.
 */
function scopeList(scope: readonly string[], meanings: Readonly<Record<string, string>>): Markup {
  return html`${scope.map((one) => {
    const meaning = Object.hasOwn(meanings, one) ? `${meanings[one]} ` : undefined;
    return html`${meaning}<code>${one}</code><br>`;
  })}`;
}

export function ownerPage(shown: OwnerPage, headers: Record<string, string>): Answer {
  const { client, flow, flowId } = shown;
  const { name: vendor, scopeMeanings = {} } = shown.vendor;
  const application = client.name ?? client.clientId;
  const owner = client.ownerName ?? client.owner;
  const asks = owner === undefined ? application : `${application} of ${owner}`;
  const content = html`<p>${asks} asks to use your account at ${vendor}. Continue only if you came from there and want this.</p>
<dl>
${fact("Application", application)}
${owner === undefined ? undefined : fact("Organization", owner)}
${fact("Vendor", vendor)}
${flow.scope.length === 0 ? undefined : fact("Permissions", scopeList(flow.scope, scopeMeanings))}
${fact("Leads back to", new URL(flow.redirectUri).host)}
</dl>
<p>${vendor} knows this service, which several organizations use, and may not name ${application} itself.</p>
<form method="post" action="/v1/authorize">
${hidden("client_id", client.clientId)}
${hidden("request_uri", shown.requestUri)}
${hidden("csrf", shown.csrf)}
<button class="button" type="submit" name="decision" value="approve">Continue to ${vendor}</button>
<button class="button plain" type="submit" name="decision" value="deny">Cancel</button>
</form>
<p class="quiet">Flow <code>${flowId}</code></p>`;
  return formPageAnswer(page(`Connect ${vendor} to ${application}?`, content), STYLE_HASH, headers);
}
