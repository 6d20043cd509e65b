/**
 * The Try page: the tools of the server as this user sees them, and one call at a time. A call for
 * which the server asks something waits (agent/pending-calls.ts) until the user answers it here.
 */
import { defined, isJsonObject, type JsonObject, type JsonValue, OAuthError } from "@oauth-broker/oauth-core";
import { type Answer, pageAnswer } from "@oauth-broker/oauth-core/http";
import type { Route } from "@oauth-broker/service/http";
import { STYLE_HASH } from "@oauth-broker/service/page";
import type { ToolCall } from "../agent/agent.ts";
import { answersTo, type LinkAnswer } from "../agent/link-question.ts";
import type { Connector } from "../connectors/connector.ts";
import { describeFailure } from "../oauth/connect.ts";
import { type TryPage, tryPage } from "../pages/try.ts";
import type { SignedIn } from "../users/session.ts";
import type { PageDeps } from "./deps.ts";
import { connectorForm, requireConnector, userPage } from "./guard.ts";

export function tryRoutes(deps: PageDeps): Route[] {
  return [
    userPage("/connectors/:id/try", deps, async (session, c) =>
      show(await requireConnector(c, deps), session, deps, {}),
    ),
    connectorForm("try", deps, async ({ session, fields, connector }) => {
      const tool = fields.require("tool");
      const entered = fields.get("input") ?? "{}";
      const seen = await orProblem(async () => {
        const call = { tool, input: parseInput(entered) };
        return callTool(connector, session, { call, round: 1 }, deps);
      });
      return show(connector, session, deps, { input: entered, ...seen });
    }),
    connectorForm("try/answer", deps, async ({ session, fields, connector }) => {
      const answer = fields.require("answer");
      if (!isAnswer(answer)) throw new OAuthError("invalid_request", "The answer is accept, decline or cancel");
      const { call, asked, round } = await deps.pendingCalls.take(connector, session, fields.require("call"));
      const { questions, requestState, takesAnswers } = asked;
      const seen = await orProblem(async () => {
        // A server of 2025-11-25 expects no answer: the call just does not take place.
        if (!takesAnswers && answer !== "accept")
          return { problem: "You did not open the address. The tool was not called" };
        const retry = { answers: answersTo(questions, answer), ...defined({ requestState }) };
        return callTool(connector, session, { call: takesAnswers ? { ...call, retry } : call, round: round + 1 }, deps);
      });
      return show(connector, session, deps, { input: JSON.stringify(call.input), ...seen });
    }),
  ];
}

const isAnswer = (text: string): text is LinkAnswer => ["accept", "decline", "cancel"].includes(text);

type Seen = Partial<Pick<TryPage, "tools" | "called" | "asked" | "problem">>;

async function callTool(
  connector: Connector,
  session: SignedIn,
  { call, round }: { readonly call: ToolCall; readonly round: number },
  { agent, pendingCalls }: PageDeps,
): Promise<Seen> {
  const { tool, input } = call;
  const outcome = await agent.call(connector, session.user.id, call);
  if ("result" in outcome) return { called: { tool, result: outcome.result } };
  const { asked } = outcome;
  const id = await pendingCalls.put(connector, session, { call: { tool, input }, asked, round });
  return { asked: { tool, callId: id, questions: asked.questions } };
}

/** The tools are read after the call: the answer is shown even when the call ended the connection. */
async function show(
  connector: Connector,
  session: SignedIn,
  { agent }: PageDeps,
  seen: Seen & Pick<TryPage, "input">,
): Promise<Answer> {
  const listed = await orProblem(async () => ({ tools: await agent.tools(connector, session.user.id) }));
  return pageAnswer(200, tryPage({ connector, tools: [], ...listed, ...seen }, session), STYLE_HASH);
}

/** The page reports the failure, because the user can remedy most of them. */
async function orProblem(see: () => Promise<Seen>): Promise<Seen> {
  try {
    return await see();
  } catch (error) {
    const { error: code, description } = describeFailure(error);
    return { problem: `${description} (${code}).` };
  }
}

function parseInput(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as JsonValue;
    if (isJsonObject(value)) return value;
  } catch {
    // Not JSON at all.
  }
  throw new OAuthError("invalid_request", "The input must be a JSON object");
}
