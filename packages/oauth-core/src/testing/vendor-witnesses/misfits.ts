import type { Witness } from "./witnesses.ts";

/** Two users of one organization are two users: its name cannot be theirs. */
const AN_ORGANIZATION = "the member names an organization, not a user of it";

/** Witnesses that an entry does not fit: `ID WHAT`, and why. The list may only become shorter. */
export const MISFITS: Readonly<Record<string, string>> = {
  "acuity-scheduling account": AN_ORGANIZATION,
  "adyen account": "the member names an API credential, which users share",
  "asana-mcp-v2 client_auth": "the source is of the classic app, whose entry is asana",
  "baidu revocation": "no field says a GET, nor the member of its answer",
  "constant-contact account": AN_ORGANIZATION,
  "gitea account": "userinfo of OpenID Connect names the same user by sub, and links are stored under it",
  "github-mcp scope_separator": "the vendor's page has spaces; the entry is off, github has its place",
  "gitlab account": "userinfo of OpenID Connect names the same user by sub, and links are stored under it",
  "gitlab-self-managed account": "userinfo of OpenID Connect names the same user by sub, and links are stored under it",
  "hubspot account": "the token is a part of the path, and version 1 ends on 2027-02-16",
  "klaviyo account": AN_ORGANIZATION,
  "kommo account": AN_ORGANIZATION,
  "microsoft-agent365-mcp authorization": "query is the response mode of a code where none is sent",
  "microsoft-agent365-mcp pkce": "the source is of a bot's app; the entry is off",
  "microsoft-consumers pkce": "the vendor takes S256; one list leaves it out",
  "monday-mcp authorization": "the source is of the classic app, whose entry is monday",
  "monday-mcp pkce": "the source is of the classic app, whose entry is monday",
  "moneybird account": AN_ORGANIZATION,
  "netsuite account": "the call of the source is one of its customer's own",
  "nuvemshop account": "the member names a shop, and the call has parts that no field says",
  "odnoklassniki account": "the call is signed",
  "openstreetmap account": "its ID token names the user, and links are stored under that",
  "planetscale account": "userinfo of OpenID Connect names the same user by sub, and links are stored under it",
  "posthog account": "userinfo of OpenID Connect names the same user by sub, and links are stored under it",
  "quickbooks revocation": "the vendor's own client sends JSON; two others send a form",
  "rippling account": AN_ORGANIZATION,
  "salesforce account": "sub is another name of the same user, and links are stored under it",
  "servicenow account": "the call of the source is one of its customer's own",
  "shopify account": "the member names a shop, and the call has parts that no field says",
  "shopline scope_separator": "its page is a fragment, which takes no parameters: the entry is off",
  "slack-openid revocation": "the token in the header is enough; the source repeats it in a form",
  "square account": AN_ORGANIZATION,
  "squarespace account": AN_ORGANIZATION,
  "stackexchange account": "the call repeats a key of the client",
  "stripe-connect account": AN_ORGANIZATION,
  "supabase account": AN_ORGANIZATION,
  "teamwork account": "the host is known from the token answer alone",
  "threads refresh_url": "no field says the exchange that renews its tokens",
  "timely account": AN_ORGANIZATION,
  "vk-id account": "the call is a form",
  "wechat account": "the call repeats a member of the token answer",
  "wrike account": "the host is known from the token answer alone",
  "x authorization": "query is the response mode of a code where none is sent",
  "zapier authorization": "query is the response mode of a code where none is sent",
};

/** What is checked of a witness, by name; a check fails if the entry does not fit. */
export type WitnessChecks = Readonly<Record<string, () => Promise<void> | void>>;

/** @returns the checks that fail and are not listed above, and those that are and pass */
export async function surprisesOf({ id }: Pick<Witness, "id">, checks: WitnessChecks): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([what, check]) => {
      const name = `${id} ${what}`;
      const isListed = Object.hasOwn(MISFITS, name);
      try {
        await check();
        return isListed ? [`${name}: fits, so it has to leave the list of misfits`] : [];
      } catch (problem) {
        return isListed ? [] : [`${name}: ${problem instanceof Error ? problem.message : "?"}`];
      }
    }),
  );
  return found.flat();
}
