/**
 * A server with three vendors: users sign in at `home` and link `chat`, OpenID
 * providers at two origins that this repository did not write, and `github`, a simulator with its
 * own account endpoint. Every token of the vendors is planted, and everything that a client
 * or a browser receives of the server is kept, to be searched for them.
 */
import type { AccountId } from "@oauth-broker/simulators";
import { startGitHub } from "@oauth-broker/simulators/vendors";
import { decodeJwt } from "jose";
import { openLinks, runTokenStore } from "../../../packages/mcp-auth/src/cli/operator.ts";
import { runCommand } from "../../../packages/mcp-auth/src/cli/run-command.ts";
import { openVisitor } from "../../../packages/mcp-auth/src/testing/linking/visitor.ts";
import { basic } from "../broker/platform.ts";
import { serveInProcess } from "../mcp/in-process.ts";
import { type Environment, hostedEnvironment } from "../mcp/process.ts";
import { gitHubVariables, OUR_CLIENT, startOpenIdVendor } from "../mcp/vendor.ts";
import { findSecrets, plantSecret, random } from "../secrets.ts";
import { type Ended, temporaryFolder } from "../service-process.ts";
import { defineServer } from "./definition.ts";

type OpenIdName = "home" | "chat";

const PREFIX = "vendor token";
/** More responses of a token endpoint than any file has. */
const MOST_TOKEN_ANSWERS = 400;

export type SeveralVendors = Awaited<ReturnType<typeof startSeveralVendors>>;
/** @param fronts further addresses of the server, which its vendors then redirect to as well */
export async function startSeveralVendors({
  env = {},
  fronts = async () => [],
}: { readonly env?: Environment; readonly fronts?: (port: string) => Promise<readonly string[]> } = {}) {
  const own = await hostedEnvironment({});
  const url = own.DEPLOYMENT_URL;
  const addresses = [url, ...(await fronts(own.PORT))];
  const issued: Record<OpenIdName, Record<string, unknown>[]> = { home: [], chat: [] };
  const openId = async (name: OpenIdName, host: "127.0.0.1" | "localhost", scopes: string) => {
    const redirectUris = addresses.flatMap((at) => [`${at}/callback`, `${at}/vendors/${name}/callback`]);
    const vendor = await startOpenIdVendor({ redirectUris, host, prefix: `VENDOR_${name.toUpperCase()}`, scopes });
    const rewrite = (answer: Record<string, unknown>): Record<string, unknown> => {
      issued[name].push(answer);
      for (const [member, value] of Object.entries(answer)) {
        if (member.endsWith("_token") && typeof value === "string") plantSecret(`${PREFIX}: ${name} ${member}`, value);
      }
      return answer;
    };
    for (let count = 0; count < MOST_TOKEN_ANSWERS; count += 1)
      vendor.provider.faults.next("/token", { kind: "rewrite", rewrite });
    return vendor;
  };
  const home = await openId("home", "127.0.0.1", "openid profile email");
  const chat = await openId("chat", "localhost", "openid profile offline_access api:read api:write");
  const clientSecret = random("client secret at the vendor");
  const github = await startGitHub();
  github.addClient({ clientId: OUR_CLIENT, clientSecret, redirectUris: [`${url}/vendors/github/callback`] });
  const environment: Environment = {
    ...own,
    VENDORS: "home,chat,github",
    ...home.env,
    ...chat.env,
    ...gitHubVariables(github, clientSecret, "VENDOR_GITHUB"),
    VENDOR_GITHUB_SCOPES: "read:user repo",
    OAUTH_DYNAMIC_REGISTRATION: "open",
    LIMITS_REQUESTS_PER_MINUTE: "0",
    LIMITS_REGISTRATIONS_PER_MINUTE: "0",
    ...env,
  };
  const folder = temporaryFolder();
  let changed: Environment = { DATA_DIR: folder, ...environment };
  const start = () => serveInProcess(defineServer(changed), changed, folder);
  let server = await start();
  let seen = "";
  const keep = (text: string): void => void (seen += `${text}\n`);
  const keptFetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const answer = await fetch(input, init);
    keep([answer.url, ...[...answer.headers].flat(), await answer.clone().text()].join("\n"));
    return answer;
  };
  const plantGitHub = (): void => {
    for (const token of github.liveTokens()) plantSecret(`${PREFIX}: github`, token);
  };

  return {
    url,
    mcp: `${url}/mcp`,
    github,
    /** Keeps what a client or browser has received. */
    keep,
    /** Keeps each response. */
    fetch: keptFetch,
    /** A new browser. @param account at each vendor if a visit names no other */
    visitor: (account: AccountId = "user") => {
      let signIns = 0;
      const counted = async (at: string, init: RequestInit): Promise<Response> => {
        const answer = await keptFetch(at, init);
        if (answer.headers.getSetCookie().some((cookie) => /^sign-in-[\w-]+=[\w-]/.test(cookie))) signIns += 1;
        return answer;
      };
      /** How often the server has signed this browser in. */
      return { ...openVisitor(url, counted, { account }), signIns: () => signIns };
    },
    /** @returns the names of the vendors' tokens that a client or browser has received */
    seenTokens: () => {
      plantGitHub();
      return findSecrets(seen).filter((what) => what.startsWith(PREFIX));
    },
    /** How many tokens the vendors have issued. */
    issuedTokens: () => issued.home.length + issued.chat.length + github.liveTokens().length,
    /** The user ends this app's access on the vendor's own pages. */
    endGrant: async (vendor: "chat" | "github", user: string) => {
      plantGitHub();
      if (vendor === "github") return github.disconnect(user, OUR_CLIENT);
      for (const { access_token: token, id_token: idToken } of issued.chat) {
        if (typeof idToken !== "string" || decodeJwt(idToken).sub !== user) continue;
        const headers = { authorization: basic(OUR_CLIENT, chat.clientSecret) };
        const body = new URLSearchParams({ token: String(token) });
        // Revoking any token of a grant ends all of them.
        // oxlint-disable-next-line no-await-in-loop -- there are one or two
        await fetch(`${chat.provider.issuer}/token/revocation`, { method: "POST", headers, body });
      }
    },
    /** Stops the server, and starts it again with these changes. */
    restart: async (changes: Environment = {}) => {
      plantGitHub();
      await server.stop();
      changed = { ...changed, ...changes };
      server = await start();
    },
    /** An operator's command beside the server. */
    command: async (...args: string[]): Promise<Ended> => {
      const said = { stdout: "", stderr: "" };
      const code = await runCommand(args, {
        print: (line) => void (said.stdout += `${line}\n`),
        say: (line) => void (said.stderr += `${line}\n`),
        openLinks: () => openLinks(changed),
        runTokenStore: (given) => runTokenStore(given, changed),
      });
      return { code, ...said };
    },
    close: async () => {
      plantGitHub();
      try {
        await server.stop();
      } finally {
        await Promise.all([home.close(), chat.close(), github.close()]);
      }
    },
  };
}
