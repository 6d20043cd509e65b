import type { Witness } from "./witnesses.ts";

/** Witnesses that an entry does not fit: `ID WHAT`, and why. The list may only become shorter. */
export const MISFITS: Readonly<Record<string, string>> = {
  "asana-mcp-v2 client_auth": "the source is of the classic app, whose entry is asana",
  "github-mcp scope_separator": "the vendor's page has spaces; the entry is off, github has its place",
  "microsoft-agent365-mcp authorization": "query is the response mode of a code where none is sent",
  "microsoft-agent365-mcp pkce": "the source is of a bot's app; the entry is off",
  "microsoft-consumers pkce": "the vendor takes S256; one list leaves it out",
  "monday-mcp authorization": "the source is of the classic app, whose entry is monday",
  "monday-mcp pkce": "the source is of the classic app, whose entry is monday",
  "netsuite account": "the call of the source is a script that one of the vendor's customers wrote",
  "odnoklassniki account": "the call is signed",
  "quickbooks revocation": "the vendor's own client sends JSON; two others send a form",
  "shopline scope_separator": "its page is a fragment, which takes no parameters: the entry is off",
  "slack-openid revocation": "the token in the header is enough; the source repeats it in a form",
  "stackexchange account": "the call repeats a key that the vendor issues beside the client id, which no variable has",
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
