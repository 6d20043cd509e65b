import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { startLoopbackServer } from "../../oauth-core/src/testing/network/loopback-server.ts";
import { NO_URLS } from "./testing/environments.ts";
import { legacyCall, rawRequest } from "./testing/linking/raw-calls.ts";

const PACKAGE = join(import.meta.dirname, "..");

it("the README's example runs as it stands, and answers what it says", async () => {
  const page = readFileSync(join(PACKAGE, "README.md"), "utf8");
  const example = /```ts\n([^]*?)```/.exec(page)?.[1] ?? "";
  const said = /\/\/ (.*)$/m.exec(example)?.[1] ?? "";
  const account = JSON.stringify({ sub: "u-1", name: said.split(", ")[1] });
  const vendor = await startLoopbackServer((socket) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${account.length}\r\n\r\n`;
    socket.write(head + account);
  });
  // In the package's own folder, where its name and its dependencies resolve.
  const server = spawn(process.execPath, ["--input-type=module-typescript", "--eval", example], {
    cwd: PACKAGE,
    env: {
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      ...NO_URLS,
      OAUTH_MODE: "pre-registered",
      VENDOR: "practice",
      VENDOR_AUTHORIZATION_URL: `${vendor.origin}/authorize`,
      VENDOR_TOKEN_URL: `${vendor.origin}/token`,
      VENDOR_USERINFO_URL: `${vendor.origin}/userinfo`,
      EGRESS_ALLOW_LOOPBACK: "true",
      HOST: "127.0.0.1",
      PORT: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(server, "exit");
  try {
    const [line] = (await once(createInterface(server.stdout), "line")) as [string];
    const { url } = JSON.parse(line) as { readonly url: string };
    const call = legacyCall("greet", { arguments: { greeting: said.split(", ")[0] } });
    const request = rawRequest("the-users-vendor-token", ...call);
    const { authorization: _, ...headers } = request.headers;
    expect((await fetch(`${url}/mcp`, { ...request, headers })).status).toBe(401);
    expect(await (await fetch(`${url}/mcp`, request)).text()).toContain(`"${said}"`);
  } finally {
    server.kill();
    await ended;
    await vendor.close();
  }
});
