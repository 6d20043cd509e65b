/**
 * The package as it is published, on the oldest Node that it supports, as its own process against
 * the broker. On a machine without Node 20 the oldest newer version is used, and the test's title
 * and stderr say so: a test that fails for a missing installation shows nothing, and CI installs
 * Node 20 (.github/workflows).
 */
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Refreshed, Revoked, Started, Tokens } from "@oauth-broker/broker-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { REDIRECT_URI, SCOPE } from "../../support/broker/configuration.ts";
import { consent, expectFresh, plantTokens } from "../../support/connect-client/harness.ts";
import { majorOf, oldestNode } from "../../support/packages/node-20.ts";
import { ROOT } from "../../support/paths.ts";
import { isCurrent } from "../../support/setup/built-services.ts";
import { startHarness } from "../../support/broker/harness.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const PACKAGE = join(ROOT, "packages", "broker-client");
const node = oldestNode();
if (majorOf(node) > 20) process.stderr.write(`There is no Node 20 here: broker-client is tried on ${node.version}\n`);

const harness = shared(() => startHarness());
let backend: ReturnType<typeof startBackend>;

beforeAll(async () => {
  build();
  backend = startBackend({
    issuer: harness.baseUrl,
    clientId: "platform",
    clientSecret: harness.secrets.platform,
    redirectUri: REDIRECT_URI,
  });
});
afterAll(() => backend.stop());

/** Runs `npm run build` for it, unless it is current, which TypeScript takes a second of CPU to find out. */
function build(): void {
  if (isCurrent(join(PACKAGE, "dist", "index.js"), ["packages/broker-client/src/**/*.ts"])) return;
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const options = { cwd: PACKAGE, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, "-b", "tsconfig.build.json"], options);
  if (status !== 0) throw new Error(`broker-client could not be built:\n${stdout}${stderr}`);
}

function startBackend(options: object) {
  const entry = pathToFileURL(join(PACKAGE, "dist", "index.js")).href;
  const file = join(ROOT, "e2e", "support", "packages", "backend-process.mjs");
  const child = spawn(node.path, [file, entry, JSON.stringify(options)], { stdio: ["pipe", "pipe", "pipe"], env: {} });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async call<T>(call: string, ...args: readonly unknown[]): Promise<T> {
      child.stdin.write(`${JSON.stringify({ call, args })}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`The backend ended:\n${stderr}`);
      const answer = JSON.parse(value) as { readonly value?: T; readonly error?: object };
      if (answer.error !== undefined) throw Object.assign(new Error(call), answer.error);
      return answer.value as T;
    },
    stderr: () => stderr,
    stop: () => void child.kill(),
  };
}

describe(`the built package on Node ${node.version}`, () => {
  it("connects, refuses another session's callback, refreshes, revokes, reports errors", async () => {
    const { url, session } = await backend.call<Started>("start", { vendor: "op", scope: SCOPE });
    const other = await backend.call<Started>("start", { vendor: "op", scope: SCOPE });
    const callback = (await consent(url)).href;
    await expect(backend.call("finish", callback, other.session)).rejects.toMatchObject({
      name: "BrokerClientError",
      code: "invalid_session",
      details: { reason: "state_mismatch" },
    });
    const { refreshToken, connection } = plantTokens(await backend.call<Tokens>("finish", callback, session));
    const refreshed = await backend.call<Refreshed>("refresh", { refreshToken, connection });
    const { accessToken: token, connection: newer } = expectFresh(refreshed);
    const revoked = await backend.call<Revoked>("revoke", { token, connection: newer });
    expect(revoked).toEqual({ outcome: "revoked", revoked: "token" });
    expect(await backend.call("explain", { vendor: "op" })).toMatchObject({ vendor: "op" });
    await expect(backend.call("start", { vendor: "no-such-vendor" })).rejects.toMatchObject({
      code: "invalid_request",
    });
    expect(backend.stderr()).toBe("");
  });
});
