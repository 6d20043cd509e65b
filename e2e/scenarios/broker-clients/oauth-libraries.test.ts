/**
 * OAuth libraries that know nothing of `connection`, unmodified, with sealed refresh tokens: each
 * refreshes twice and revokes. Two in JavaScript run here; those of examples/oauth-libraries run
 * with `npm run test:languages`, which builds them and names them in OAUTH_LIBRARIES.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { beforeEach, describe, expect, it } from "vitest";
import { startHarness } from "../../support/broker/harness.ts";
import { ROOT } from "../../support/paths.ts";
import { plantSecret } from "../../support/secrets.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

/** What a program of examples/oauth-libraries prints. */
interface Used {
  readonly accessTokens: readonly string[];
  /** The one that was revoked. */
  readonly refreshToken: string;
  /** A status. */
  readonly revoked: number;
}

/** A library, in this process or as a program. */
type Library = (refreshToken: string) => Promise<Used>;

interface Program {
  readonly name: string;
  readonly command: readonly string[];
}

const PROGRAMS = JSON.parse(process.env["OAUTH_LIBRARIES"] ?? "[]") as readonly Program[];
const PROGRAM_MS = 60_000;

const harness = shared(() => startHarness({ client: "    refresh_tokens: sealed" }));
/** The vendor signs ID tokens by the real time, and a program may take long to start. */
beforeEach(() => harness.now.advance(Math.max(0, Math.floor(Date.now() / 1000) - harness.now())));

const issuer = (): URL => new URL(harness.baseUrl);

const oauth4webapi: Library = async (refreshToken) => {
  const options = { [oauth.allowInsecureRequests]: true };
  const found = await oauth.discoveryRequest(issuer(), { algorithm: "oauth2", ...options });
  const server = await oauth.processDiscoveryResponse(issuer(), found);
  const client = { client_id: "platform" };
  const authentication = oauth.ClientSecretBasic(harness.secrets.platform);
  const refresh = async (token: string) =>
    oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, authentication, token, options),
    );
  const tokens = await refresh(refreshToken);
  const again = await refresh(tokens.refresh_token ?? "");
  const revoked = await oauth.revocationRequest(server, client, authentication, again.refresh_token ?? "", options);
  await oauth.processRevocationResponse(revoked.clone());
  return {
    accessTokens: [tokens.access_token, again.access_token],
    refreshToken: again.refresh_token ?? "",
    revoked: revoked.status,
  };
};

const openidClient: Library = async (refreshToken) => {
  const secret = openid.ClientSecretBasic(harness.secrets.platform);
  const execute = [openid.allowInsecureRequests];
  const config = await openid.discovery(issuer(), "platform", undefined, secret, { algorithm: "oauth2", execute });
  const tokens = await openid.refreshTokenGrant(config, refreshToken);
  const again = await openid.refreshTokenGrant(config, tokens.refresh_token ?? "");
  await openid.tokenRevocation(config, again.refresh_token ?? "");
  return {
    accessTokens: [tokens.access_token, again.access_token],
    refreshToken: again.refresh_token ?? "",
    revoked: 200,
  };
};

function program({ command: [file = "", ...rest] }: Program): Library {
  return async (refreshToken) => {
    const env = {
      ...process.env,
      BROKER_URL: harness.baseUrl,
      BROKER_CLIENT_ID: "platform",
      BROKER_CLIENT_SECRET: harness.secrets.platform,
      REFRESH_TOKEN: refreshToken,
    };
    const { stdout } = await promisify(execFile)(file, rest, { cwd: ROOT, env, timeout: PROGRAM_MS });
    return JSON.parse(stdout) as Used;
  };
}

const LIBRARIES: readonly [string, Library][] = [
  ["oauth4webapi", oauth4webapi],
  ["openid-client", openidClient],
  ...PROGRAMS.map((one): [string, Library] => [one.name, program(one)]),
];

describe.each(LIBRARIES)("%s, unmodified", (_name, use) => {
  it(
    "rfc6749#6 rfc7009#2.1 refreshes twice and revokes by the refresh token alone",
    { timeout: 2 * PROGRAM_MS },
    async () => {
      const tokens = await harness.platform.connect();
      const before = harness.vendorCalls("/token");
      const { accessTokens, refreshToken, revoked } = await use(tokens.refreshToken ?? "");
      for (const token of [...accessTokens, refreshToken]) plantSecret("token of a library", token);
      expect(new Set([tokens.accessToken, ...accessTokens]).size).toBe(3);
      expect([revoked, harness.vendorCalls("/token") - before]).toEqual([200, 2]);
      const { status, body } = await harness.platform.refresh({ refreshToken });
      expect([status, body["error"]]).toEqual([400, "invalid_grant"]);
    },
  );
});

describe("docs/without-our-client.md", () => {
  const page = readFileSync(join(ROOT, "docs", "without-our-client.md"), "utf8");
  const folder = join(ROOT, "examples", "oauth-libraries");
  const withoutIndent = (text: string): string => text.replaceAll(/^\s+/gm, "");

  it.each([
    ["python", ["python/main.py"]],
    ["go", ["go/main.go"]],
    ["java", ["java/src/main/java/Nimbus.java", "java/src/main/java/Spring.java"]],
  ])("shows in %s what the programs do, line for line", (language, files) => {
    const sources = files.map((file) => withoutIndent(readFileSync(join(folder, file), "utf8")));
    const found = [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm"))];
    const blocks = found.map(([, code = ""]) => withoutIndent(code));
    expect(blocks.filter((block) => !sources.some((source) => source.includes(block)))).toEqual([]);
    expect(sources.every((source) => blocks.some((block) => source.includes(block)))).toBe(true);
  });
});
