/** What the limits of a server change, seen from outside; each limit is tested beside its code. */
import { expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { postWhoami } from "../../support/mcp/client.ts";
import { serveTemplate } from "../../support/mcp/in-process.ts";
import { hostedEnvironment } from "../../support/mcp/process.ts";
import { startGitHubVendor } from "../../support/mcp/vendor.ts";
import { send } from "../../support/broker/platform.ts";
import { shared } from "../../support/shared.ts";

const vendor = shared(() => startGitHubVendor());

it("bar#ST-8 the sixth refused OAuth request is 429, and /mcp and the metadata are left", async () => {
  const env = { ...(await hostedEnvironment()), ...vendor.env, LIMITS_REQUESTS_PER_MINUTE: "5" };
  const { url, mcp, stop } = await serveTemplate(env);
  const statuses: number[] = [];
  const ask = (path: string) => send(`${url}${path}`, { method: "POST", body: new URLSearchParams({ a: "b" }) });
  for (let index = 0; index < 6; index += 1) statuses.push((await ask("/token")).status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
  const late = await ask("/revoke");
  expect([late.status, late.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^[1-9]\d?$/)]);
  expect((await postWhoami(mcp, "unknown-token")).status).toBe(401);
  expect((await send(`${url}/.well-known/oauth-authorization-server`)).status).toBe(200);
  await stop();
});

it("bar#ST-8 ends the sixth refused token of an address; tokens in use pass (#11)", async () => {
  const { mcp, stop } = await serveTemplate({
    OAUTH_MODE: "pre-registered",
    PORT: String(await freePort()),
    ...vendor.env,
    LIMITS_REFUSED_TOKENS_PER_MINUTE: "5",
    TRUSTED_PROXIES: "127.0.0.0/8",
  });
  const [used, fresh] = [await vendor.obtainToken(), await vendor.obtainToken({ account: "operator" })];
  const checks = (): number => vendor.github.requests().filter(({ path }) => path.startsWith("/applications/")).length;
  expect((await postWhoami(mcp, used)).status).toBe(200);
  const before = checks();
  const statuses: number[] = [];
  for (const count of [0, 0, 0, 1, 2, 3, 4, 5]) statuses.push((await postWhoami(mcp, `unknown-${count}`)).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 401, 429]);
  expect(checks() - before).toBe(5);
  const late = await postWhoami(mcp, fresh);
  expect([late.status, late.headers.get("retry-after"), late.headers.get("content-type")]).toEqual([
    429,
    expect.stringMatching(/^[1-9]\d?$/),
    expect.stringContaining("application/json"),
  ]);
  expect(JSON.parse(late.text)).toMatchObject({ error: "slow_down" });
  expect((await postWhoami(mcp, used)).status).toBe(200);
  expect((await postWhoami(mcp, fresh, { headers: { "x-forwarded-for": "198.51.100.1" } })).status).toBe(200);
  await stop();
});
