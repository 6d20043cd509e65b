/** What the page and the routes share: the broker's client, the sessions, the users' tokens, the answers. */
import { randomUUID } from "node:crypto";
import { createBrokerClient, type Session as Flow, type Tokens } from "@oauth-broker/broker-client";
import { cookies } from "next/headers";

const { env } = process;
export const APP_URL: string = env.APP_URL ?? `http://127.0.0.1:${env.PORT ?? 3000}`;
export const VENDORS = {
  github: { name: "GitHub", scope: "read:user", account: `${env.GITHUB_API_URL ?? "https://api.github.com"}/user` },
  slack: { name: "Slack", scope: "chat:write", account: `${env.SLACK_API_URL ?? "https://slack.com"}/api/auth.test` },
};
interface Session {
  readonly user: string;
  /** Under way in several tabs, each with its PKCE verifier. */
  readonly flows: { readonly vendor: keyof typeof VENDORS; readonly flow: Flow }[];
  /** Your own store goes here. It encrypts, and finds by user: these are the user's real tokens. */
  readonly tokens: Map<keyof typeof VENDORS, Tokens>;
}

function open() {
  const { BROKER_URL: issuer, BROKER_CLIENT_ID: clientId, BROKER_CLIENT_SECRET: clientSecret } = env;
  if (!issuer || !clientId || !clientSecret) {
    console.error("Set BROKER_URL, BROKER_CLIENT_ID, BROKER_CLIENT_SECRET: README.md says where they come from");
    process.exit(1);
  }
  const broker = createBrokerClient({ issuer, clientId, clientSecret, redirectUri: `${APP_URL}/oauth/callback` });
  return { broker, sessions: new Map<string, Session>() };
}
// Next.js loads this file once for each of its bundles: what they share is global.
const shared = globalThis as typeof globalThis & { platform?: ReturnType<typeof open> };
export const platform = () => (shared.platform ??= open());

/** The session of the browser that asks. */
export const findSession = async (): Promise<Session | undefined> =>
  cookies().then((jar) => platform().sessions.get(jar.get("session")?.value ?? ""));

/** Your own login goes here. It begins a new session: nothing planted in the old session stays. */
export async function signIn(user: string): Promise<Response> {
  const id = randomUUID();
  platform().sessions.set(id, { user, flows: [], tokens: new Map() });
  (await cookies()).set("session", id, { httpOnly: true, sameSite: "lax", secure: APP_URL.startsWith("https:") });
  return goTo("/");
}

/** Whose account it is, says the vendor. The token stays on this machine. */
export async function readAccount(vendor: keyof typeof VENDORS, { accessToken }: Tokens): Promise<string> {
  const request = { headers: { authorization: `Bearer ${accessToken}` }, signal: AbortSignal.timeout(10_000) };
  const answer = await fetch(VENDORS[vendor].account, request).catch(() => undefined);
  const { login, user } = (answer?.ok ? await answer.json() : {}) as { login?: string; user?: string };
  return `Connected to ${VENDORS[vendor].name} as ${login ?? user ?? "unknown: refresh, or connect again"}.`;
}

const ERRORS: Record<string, readonly [text: string, status: number]> = {
  access_denied: ["You cancelled, so nothing was connected.", 403],
  invalid_session: ["You did not begin this connection here, or it took too long. Connect again.", 400],
  temporarily_unavailable: ["It cannot be reached at the moment. Try again in a minute.", 503],
};
export const goTo = (location: string): Response => new Response(null, { status: 303, headers: { location } });
export const say = (text: string, status = 200): Response => new Response(text, { status });
/** The route, with a sentence for the user where the broker refuses. */
export const answer =
  <Rest extends unknown[]>(work: (request: Request, ...rest: Rest) => Promise<Response>) =>
  async (request: Request, ...rest: Rest): Promise<Response> =>
    work(request, ...rest).catch((error: unknown) => {
      console.error(error);
      // Not `instanceof`: each bundle of Next.js has another BrokerClientError.
      const known = ERRORS[(error as { readonly code?: string }).code ?? ""];
      return say(...(known ?? (["This did not work.", 502] as const)));
    });
