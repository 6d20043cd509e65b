/** The Try page: the tools of the server as this user sees them, and one call at a time. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { pageAnswer } from "@oauth-broker/oauth-core/http";
import { type Route, STYLE_HASH } from "@oauth-broker/oauth-core/service";
import { BrokerClientError } from "@oauth-broker/broker-client";
import { describeFailure } from "../oauth/connect.ts";
import { type TryPage, tryPage } from "../pages/try.ts";
import type { PageDeps } from "./deps.ts";
import { requireConnector, requireForm } from "./guard.ts";
import { asUser } from "./pages.ts";

const PATH = "/connectors/:id/try";

export function tryRoutes(deps: PageDeps): Route[] {
  const { agent } = deps;
  return [
    {
      method: "GET",
      path: PATH,
      surface: "browser",
      handle: (c) =>
        asUser(c, deps, async (session) => {
          const connector = await requireConnector(c, deps);
          const seen = await orProblem(async () => ({ tools: await agent.tools(connector, session.user.id) }));
          return pageAnswer(200, tryPage({ connector, tools: [], ...seen }, session), STYLE_HASH);
        }),
    },
    {
      method: "POST",
      path: PATH,
      surface: "browser",
      handle: async (c) => {
        const { session, fields } = await requireForm(c, deps);
        const connector = await requireConnector(c, deps);
        const tool = fields.require("tool");
        const input = fields.get("input") ?? "{}";
        const called = await orProblem(async () => {
          const result = await agent.call(connector, session.user.id, tool, parseInput(input));
          return { called: { tool, result } };
        });
        // Read after the call: the answer is shown even when the call ended the connection.
        const listed = await orProblem(async () => ({ tools: await agent.tools(connector, session.user.id) }));
        const seen = { ...listed, ...called };
        return pageAnswer(200, tryPage({ connector, tools: [], input, ...seen }, session), STYLE_HASH);
      },
    },
  ];
}

type Seen = Partial<Pick<TryPage, "tools" | "called" | "problem">>;

/** The page reports the failure, because the user can remedy most of them. */
async function orProblem(see: () => Promise<Seen>): Promise<Seen> {
  try {
    return await see();
  } catch (error) {
    if (!(error instanceof OAuthError || error instanceof BrokerClientError)) throw error;
    const { error: code, description } = describeFailure(error);
    return { problem: `${description} (${code}).` };
  }
}

function parseInput(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notAnObject();
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw notAnObject();
  return value as Record<string, unknown>;
}

const notAnObject = (): OAuthError => new OAuthError("invalid_request", "The input must be a JSON object");
