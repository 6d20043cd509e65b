/** Calls of 2026-07-28 as they are on the wire, for clients without a library. */
import { modernCall, rawRequest } from "../../../packages/mcp-auth/src/testing/linking/raw-calls.ts";
import type { SeveralVendors } from "./harness.ts";

/**
 * By `fetch`; the response is kept.
 *
 * @param params replace those of the call, which is of a client that shows URLs
 */
export type RawCall = Awaited<ReturnType<typeof callModern>>;
export async function callModern(
  { url, keep }: Pick<SeveralVendors, "url" | "keep">,
  accessToken: string,
  tool: string,
  params: object = {},
) {
  const sent = await fetch(`${url}/mcp`, rawRequest(accessToken, ...modernCall(tool, params)));
  const answer = await keep("raw client", "POST", sent);
  const text = await answer.text();
  const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
  const { result = {}, error } = JSON.parse(json) as {
    readonly result?: Result;
    readonly error?: { readonly code: number };
  };
  const urls = Object.fromEntries(
    Object.entries(result.inputRequests ?? {}).map(([vendor, asked]) => [vendor, asked.params?.url ?? ""]),
  );
  const [content] = result.content ?? [];
  const value = result.isError === true || content === undefined ? {} : (JSON.parse(content.text) as Value);
  return {
    status: answer.status,
    text,
    /** What the user is asked, by vendor. */
    urls,
    error,
    requestState: result.requestState,
    /** Whom the tool ran for, and whose tokens the vendors were sent. */
    user: value.user,
    subs: [value.account ?? [], value.accounts ?? []].flat().map(({ sub }) => sub),
  };
}

interface Result {
  readonly isError?: boolean;
  readonly content?: readonly { readonly text: string }[];
  readonly requestState?: string;
  readonly inputRequests?: Readonly<Record<string, { readonly params?: { readonly url?: string } }>>;
}

interface Value {
  readonly user?: string;
  readonly account?: { readonly sub: string };
  readonly accounts?: readonly { readonly sub: string }[];
}
