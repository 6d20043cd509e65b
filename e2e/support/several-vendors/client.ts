/**
 * The SDK's client, unchanged, of a user at a server with several vendors: it connects by itself,
 * and what the server asks its user for, the user does in a browser. What it receives is kept.
 */
import { type Client, UrlElicitationRequiredError } from "@modelcontextprotocol/client";
import type { AccountId } from "@oauth-broker/simulators";
import { callTool, createClient, type Era, type ToolAnswer } from "../mcp/client.ts";
import { authorizeClient } from "../mcp/client-oauth.ts";
import type { SeveralVendors } from "./harness.ts";

const CALLBACK = "http://127.0.0.1/oauth/callback";

interface LinkingClientOptions {
  readonly era: Era;
  readonly account?: AccountId;
  /** Default true: it declares that it shows URLs. */
  readonly showsUrls?: boolean;
  /** The browser of the user; by default a new browser. */
  readonly browser?: ReturnType<SeveralVendors["visitor"]>;
}

export type LinkingClient = Awaited<ReturnType<typeof connectLinkingClient>>;
export async function connectLinkingClient(
  harness: SeveralVendors,
  { era, account = "user", showsUrls = true, browser = harness.visitor(account) }: LinkingClientOptions,
) {
  const asked: string[] = [];
  let authorizations = 0;
  const show = async (url: string) => {
    asked.push(url);
    return linking.onUrl(url);
  };
  const create = (): Client => {
    if (!showsUrls) return createClient(era);
    const client = createClient(era, { capabilities: { elicitation: { url: {} } } });
    client.setRequestHandler("elicitation/create", async ({ params }) => ({
      action: await show("url" in params ? String(params.url) : ""),
    }));
    return client;
  };
  const stopAt = ({ href }: URL): boolean => href.startsWith(CALLBACK);
  const { client, tokens } = await authorizeClient(harness.mcp, {
    era,
    account,
    callback: CALLBACK,
    create,
    fetch: harness.fetch,
    visit: async (url) => {
      authorizations += 1;
      return (await browser.press(await browser.open(url, { stopAt }), "approve", { stopAt })).url;
    },
  });
  const linking = {
    browser,
    accessToken: tokens.accessToken,
    /** The URLs its user was shown, in order. */
    asked,
    /** What the user does with a URL; by default they approve at once. */
    onUrl: async (url: string): Promise<"accept" | "decline" | "cancel"> => {
      await browser.link({ url });
      return "accept";
    },
    /** Shows URLs and calls again, as its era has it. */
    call: async (tool: string, input: Record<string, unknown> = {}): Promise<ToolAnswer> => {
      try {
        return await callTool(client, tool, input);
      } catch (error) {
        if (!(error instanceof UrlElicitationRequiredError)) throw error;
        // oxlint-disable-next-line no-await-in-loop -- one page after the other
        for (const { url } of error.elicitations) await show(url);
        return callTool(client, tool, input);
      }
    },
    /** How often its user was sent to the authorization server. */
    authorizations: () => authorizations,
    close: () => client.close(),
  };
  return linking;
}
