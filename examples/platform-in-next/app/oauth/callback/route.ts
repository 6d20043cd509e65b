import { answer, APP_URL, findSession, goTo, platform } from "../../../platform.ts";

export const GET = answer(async (request) => {
  const session = await findSession();
  if (session === undefined) return goTo("/");
  const { search, searchParams } = new URL(request.url);
  const at = session.flows.findIndex(({ flow }) => flow.state === searchParams.get("state"));
  const [begun] = at < 0 ? [] : session.flows.splice(at, 1);
  const tokens = await platform().broker.finish(`${APP_URL}/oauth/callback${search}`, begun?.flow);
  if (begun !== undefined) session.tokens.set(begun.vendor, tokens);
  return goTo("/");
});
