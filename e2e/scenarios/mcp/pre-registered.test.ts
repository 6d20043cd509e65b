/**
 * The template in pre-registered mode: the platform has the user's vendor token and sends it with
 * every call; the server validates it at the vendor, stores nothing, and is not an authorization
 * server.
 */
import { readdirSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { callTool, connectClient, ERAS, postWhoami } from "../../support/mcp/client.ts";
import { serveTemplate } from "../../support/mcp/in-process.ts";
import { PLATFORM_CALLBACK } from "../../support/mcp/process.ts";
import { OTHER_CLIENT, startGitHubVendor } from "../../support/mcp/vendor.ts";
import { send } from "../../support/broker/platform.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const vendor = shared(startGitHubVendor);
// Its end fails when the output contains a token, code or secret.
const server = shared(async () =>
  serveTemplate({
    OAUTH_MODE: "pre-registered",
    PORT: String(await freePort()),
    PLATFORM_OAUTH_CALLBACK_URL: PLATFORM_CALLBACK,
    ...vendor.env,
  }),
);
let token: string;
beforeAll(async () => {
  token = await vendor.obtainToken();
});

describe.each(ERAS)("a stock %s client with the user's vendor token", (era) => {
  it("gets the account as JSON text", async () => {
    const client = await connectClient(server.mcp, token, era);
    expect((await client.listTools()).tools.map(({ name }) => name).toSorted()).toEqual(["list_pages", "whoami"]);
    const { value } = await callTool(client, "whoami");
    expect(value).toMatchObject({ id: 1, login: "sample-user" });
    await client.close();
  });

  it("lists what comes in pages, and receives progress", async () => {
    const client = await connectClient(server.mcp, token, era);
    const heard: number[] = [];
    const result = await client.callTool(
      { name: "list_pages", arguments: { url: `${vendor.github.url}/user/repos?per_page=2`, pages: 2 } },
      { onprogress: ({ progress }) => void heard.push(progress) },
    );
    const [{ text = "" } = {}] = result.content as readonly { readonly text?: string }[];
    const { items, hasMore } = JSON.parse(text) as { readonly items: readonly object[]; readonly hasMore: boolean };
    expect([items.length, hasMore, heard]).toEqual([4, true, [1, 2]]);
    await client.close();
  });
});

it("stores nothing", () => {
  expect(readdirSync(server.folder)).toEqual([]);
});

describe("bar#RS-1 bar#RS-2 a call", () => {
  it("without a token is 401 with a challenge that names neither an error nor metadata", async () => {
    const { status, headers } = await postWhoami(server.mcp, undefined);
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toBe('Bearer scope="read:user"');
  });

  it("with a good token of another app is 401: that app's operator could hold it", async () => {
    const foreign = await vendor.obtainToken({ clientId: OTHER_CLIENT });
    expect(vendor.github.isLive(foreign)).toBe(true);
    expect((await postWhoami(server.mcp, foreign)).status).toBe(401);
  });
});

it("says on /healthz what its bearer tokens are", async () => {
  const { body } = await send(`${server.url}/healthz`);
  expect(body).toEqual({ status: "ok", mode: "pre-registered", bearer: "vendor_token_of_the_user" });
});
