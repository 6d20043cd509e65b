/** Calls of 2026-07-28 as they are on the wire, for clients without a library. */
import { modernCall, rawRequest } from "../../../packages/mcp-auth/src/testing/linking/raw-calls.ts";
import type { SeveralVendors } from "./harness.ts";

/** The JSON-RPC result or error, as far as a test looks into it. */
export interface RawCall {
  readonly status: number;
  readonly error: { readonly code: number } | undefined;
  /** Whom the tool ran for, and whose tokens the vendors were sent. */
  readonly user: string | undefined;
  readonly subs: readonly string[];
  readonly requestState: string | undefined;
  /** What the user is asked, by vendor. */
  readonly urls: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * By `fetch`; the response is kept.
 *
 * @param params replace those of the call, which is of a client that shows URLs
 */
export async function callModern(
  { url, keep }: Pick<SeveralVendors, "url" | "keep">,
  accessToken: string,
  tool: string,
  params: object = {},
): Promise<RawCall> {
  const sent = await fetch(`${url}/mcp`, rawRequest(accessToken, ...modernCall(tool, params)));
  const answer = await keep("raw client", "POST", sent);
  const text = await answer.text();
  const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
  const { result = {}, error } = JSON.parse(json) as { readonly result?: Result; readonly error?: RawCall["error"] };
  const urls = Object.fromEntries(
    Object.entries(result.inputRequests ?? {}).map(([vendor, asked]) => [vendor, asked.params?.url ?? ""]),
  );
  const [content] = result.content ?? [];
  const value = result.isError === true || content === undefined ? {} : (JSON.parse(content.text) as Value);
  return {
    status: answer.status,
    text,
    urls,
    error,
    requestState: result.requestState,
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
