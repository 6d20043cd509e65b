/**
 * Attackers: a writer of a deployed server's table who lacks its keys, and an operator who sets
 * another vendor over the same table. Neither may turn one user into another. The twins are beside
 * the code, in hosted/table-writer.twin.test.ts.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AccountId } from "@oauth-broker/simulators";
import { expect, it } from "vitest";
import { postWhoami } from "../support/mcp/client.ts";
import { createMcpPlatform, errorOf, type PlatformTokens } from "../support/mcp/platform.ts";
import { serveTemplate, type ServerInProcess } from "../support/mcp/in-process.ts";
import { type Environment, hostedEnvironment } from "../support/mcp/process.ts";
import { startGitHubVendor, startOpenIdVendor } from "../support/mcp/vendor.ts";
import { send } from "../support/broker/platform.ts";
import { temporaryFolder } from "../support/service-process.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const vendor = shared(() => startGitHubVendor());

async function deploy(at: Environment = vendor.env) {
  const folder = temporaryFolder();
  const env = { ...(await hostedEnvironment()), ...at, DATA_DIR: folder };
  return {
    /** Starts a server over the folder, and stops it after. */
    serve: async <Result>(work: (server: ServerInProcess) => Promise<Result>, more: Environment = {}) => {
      const server = await serveTemplate({ ...env, ...more });
      try {
        return await work(server);
      } finally {
        await server.stop();
      }
    },
    /** Between two of them, as an attacker who has the file would. */
    write: (statement: string, ...values: string[]) => {
      const file = new DatabaseSync(join(folder, "tokens.sqlite"));
      expect(file.prepare(statement).run(...values).changes).toBeGreaterThan(0);
      file.close();
    },
  };
}

const connect = async ({ url }: ServerInProcess, account: AccountId): Promise<PlatformTokens> =>
  (await createMcpPlatform(url)).connect(account);

/** The account that a session's tokens give. */
async function worth({ mcp, url }: ServerInProcess, tokens: PlatformTokens): Promise<[number, string]> {
  const platform = await createMcpPlatform(url);
  const refresh = await errorOf(platform.refresh(tokens.refreshToken));
  return [(await postWhoami(mcp, tokens.accessToken)).status, refresh];
}

const WORTHLESS = [401, "400 invalid_grant"];

it("bar#TS-3 a session whose user was changed in the table belongs to no user", async () => {
  const { serve, write } = await deploy();
  const [mine, victims] = await serve(async (server) => {
    const found = [await connect(server, "user"), await connect(server, "operator")] as const;
    for (const { accessToken } of found) expect((await postWhoami(server.mcp, accessToken)).status).toBe(200);
    return found;
  });
  // Each in the other's place: both users are linked. Their ids at the vendor are 1 and 2.
  write(
    `update records set data = json_set(data, '$.user', iif(json_extract(data, '$.user') = '1', '2', '1'))
     where kind = 'session'`,
  );
  await serve(async (server) => {
    for (const tokens of [mine, victims]) expect(await worth(server, tokens)).toEqual(WORTHLESS);
    const again = await connect(server, "user");
    expect((await postWhoami(server.mcp, again.accessToken)).status).toBe(200);
    await expect.poll(() => server.stdout()).toMatch(/"event":"record_refused".*"reason":"session"/);
  });
});

it("bar#RS-2 a session of the former vendor is refused at the present one", async () => {
  const openId = await startOpenIdVendor();
  const { serve } = await deploy(openId.env);
  const tokens = await serve((server) => connect(server, "user"));
  await serve(
    async (server) => {
      // The same name there: its owner has signed in.
      const present = await connect(server, "user");
      expect(await worth(server, tokens)).toEqual(WORTHLESS);
      expect((await postWhoami(server.mcp, present.accessToken)).status).toBe(200);
    },
    { VENDOR: "another" },
  );
  await serve(async (server) => expect((await postWhoami(server.mcp, tokens.accessToken)).status).toBe(200));
  await openId.close();
});

it("bar#TS-7 an unsealed server key is refused, and replaced only if the operator says so", async () => {
  const { serve, write } = await deploy();
  const tokens = await serve((server) => connect(server, "user"));
  const planted = JSON.stringify({ v: 1, key: randomBytes(32).toString("base64url") });
  write("update records set stage = 'plain', data = ? where kind = 'server-key'", planted);
  await serve(async ({ url, mcp, stdout }) => {
    expect((await send(`${url}/readyz`)).status).toBe(503);
    expect((await postWhoami(mcp, tokens.accessToken)).status).toBe(503);
    await expect.poll(() => stdout()).toContain("ADOPT_UNSEALED_SERVER_KEY");
  });
  await serve(
    async (server) => {
      await expect.poll(() => server.stdout()).toMatch(/"level":"warn".*ADOPT_UNSEALED_SERVER_KEY/);
      expect(await worth(server, tokens)).toEqual(WORTHLESS);
      const next = await connect(server, "user");
      expect((await postWhoami(server.mcp, next.accessToken)).status).toBe(200);
    },
    { ADOPT_UNSEALED_SERVER_KEY: "true" },
  );
});
