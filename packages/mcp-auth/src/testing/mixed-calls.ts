/**
 * Concurrent calls of many users at one server, each with a canary: the vendor reports the token it
 * received, the tool reports its user. The whole app in hosted mode on an SQLite file; only the
 * socket in front of it is left out.
 */
import { systemClock } from "@oauth-broker/oauth-core";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { fakeCode, fakeVendorEnvironment, startFakeVendor } from "@oauth-broker/simulators";
import { CALLBACK, form, SERVER, VERIFIER } from "./hosted-fixture.ts";
import { legacyCall, modernCall, rawRequest } from "./linking/raw-calls.ts";
import { openTestApp } from "./test-app.ts";
import { testTool } from "./test-tool.ts";

/** Lifetime of vendor tokens: shorter than that of the sessions' own. */
const LIFETIME_SECONDS = 1800;

const account = testTool("account", {
  run: async (_, { vendor, user }) => {
    const { sub } = await vendor.account();
    return JSON.stringify({ user, sub });
  },
});

export interface MixedCalls {
  /** The responses of this server to `calls` calls, as many at a time as there are users. */
  run(calls: number): Promise<readonly MixedAnswer[]>;
  /** The server's clock goes on until the vendor's tokens are about to end. */
  ageTokens(): void;
  /** Requests at the vendor so far. */
  refreshes(): number;
  close(): Promise<void>;
}

export interface MixedAnswer {
  readonly caller: string;
  /**
   * The user the tool ran for, and the user of the token the vendor received; a text when the call
   * failed.
   */
  readonly answered: { readonly user: string; readonly sub: string } | string;
}

/** @returns the responses that contain another user's data, or none at all */
export function findCrossed(answers: readonly MixedAnswer[]): readonly MixedAnswer[] {
  return answers.filter(
    ({ caller, answered }) => typeof answered === "string" || answered.user !== caller || answered.sub !== caller,
  );
}

/** Connects this many users. */
export async function openMixedCalls(users: number): Promise<MixedCalls> {
  const provider = await startFakeVendor({ codes: "named", lifetimeSeconds: LIFETIME_SECONDS });
  const environment = {
    ...fakeVendorEnvironment(provider.url),
    OAUTH_MODE: "hosted",
    DEPLOYMENT_URL: SERVER,
    PLATFORM_OAUTH_CALLBACK_URL: CALLBACK,
  };
  const now = fixedClock(systemClock());
  const { ask, close } = await openTestApp(environment, { now, tools: [account] });
  const connect = async (user: string): Promise<string> => {
    const body = form({
      client_id: "platform",
      grant_type: "authorization_code",
      code: fakeCode(user),
      code_verifier: VERIFIER,
      redirect_uri: CALLBACK,
    });
    const answer = await ask("/token", { method: "POST", body });
    return ((await answer.json()) as { readonly access_token: string }).access_token;
  };
  const call = async (caller: string, token: string, number: number): Promise<MixedAnswer> => {
    // Alternates between a client of 2025 and one of 2026.
    const made = number % 2 === 0 ? modernCall("account", {}, {}, number) : legacyCall("account", {}, number);
    const answer = await ask("/mcp", rawRequest(token, ...made));
    return { caller, answered: readAnswer(await answer.text(), number) };
  };
  const names = Array.from({ length: users }, (_, number) => `user-${number}`);
  const tokens = await Promise.all(names.map(connect));
  return {
    run: async (calls) => {
      const answers: MixedAnswer[] = [];
      let made = 0;
      await Promise.all(
        names.map(async (name, at) => {
          while (made < calls) answers.push(await call(name, tokens[at] ?? "", (made += 1)));
        }),
      );
      return answers;
    },
    ageTokens: () => now.advance(LIFETIME_SECONDS - 10),
    refreshes: () => provider.counts().refreshes,
    close: async () => {
      await close();
      await provider.close();
    },
  };
}

/** @param text JSON, or one server-sent event that holds it */
function readAnswer(text: string, id: number): MixedAnswer["answered"] {
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  try {
    const parsed = JSON.parse(json) as {
      readonly id: number;
      readonly result: { readonly content: readonly [{ readonly text: string }] };
    };
    if (parsed.id !== id) return `the answer to another request than ${id}: ${text}`;
    return JSON.parse(parsed.result.content[0].text) as { readonly user: string; readonly sub: string };
  } catch {
    return text;
  }
}
