/**
 * What a client meets: the scaffold's server as a process, GitHub's simulator behind it, and the
 * user's browser. A client opens the browser as it does on a desktop, by `BROWSER` or `xdg-open`.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startScriptedVendor } from "@oauth-broker/simulators";
import { startMcpServer } from "../support/mcp/process.ts";
import { startAtVendor } from "../support/mcp/server-callback.ts";
import { OUR_CLIENT, startGitHubVendor, visitAsUser } from "../support/mcp/vendor.ts";

export type Stage = Awaited<ReturnType<typeof openStage>>;
/** @param folder for the server's data and the command that opens the browser */
export async function openStage(folder: string) {
  const { server, vendor, close } = await startAtVendor(
    (redirectUris) => startGitHubVendor({ redirectUris, expiringTokens: true }),
    () => ({
      OAUTH_DYNAMIC_REGISTRATION: "open",
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "programs", "clock.mjs")}`,
    }),
    startMcpServer,
  );
  const browser = await openBrowser(folder);
  let hours = 0;
  return {
    /** The address of `/mcp`: all that a client is given. */
    mcp: server.mcp,
    /** Variables of a client's environment, so that it finds the browser. */
    browser: browser.variables,
    /** How often a client sent its user to the browser so far. */
    opened: () => browser.opened(),
    /** Requests that reached the server so far, by its own log. */
    requests: () => server.stdout().split("\n").length,
    /** The server's clock: its access tokens end, the client's clock stays. */
    hourLater: async () => {
      hours += 1;
      server.signal("SIGUSR2");
      // A client that refreshes before the clock has moved gets a token that ends when it does.
      while (!server.stderr().includes(`${hours} h later\n`)) await sleep(10);
    },
    /** The user disconnects the server at the vendor. From now on the browser opens pages and approves nothing. */
    revoke: () => {
      vendor.github.disconnect("user", OUR_CLIENT);
      browser.leave();
    },
    close: async () => {
      await browser.close();
      await close();
    },
  };
}

/** A user who follows each page that a client opens, up to the client's own callback. */
async function openBrowser(folder: string) {
  let opened = 0;
  let isAway = false;
  const { url, close } = await startScriptedVendor({
    "*": ({ body: start }) => {
      opened += 1;
      const visiting = isAway ? Promise.resolve() : visitAsUser(start);
      visiting.catch((error: unknown) => process.stderr.write(`The user did not get through: ${String(error)}\n`));
      return { status: 204 };
    },
  });
  const bin = join(folder, "bin");
  const command = join(bin, "xdg-open");
  mkdirSync(bin, { recursive: true });
  const post = `fetch("${url}", { method: "POST", body: process.argv[1] })`;
  writeFileSync(command, `#!/bin/sh\nexec env -u NODE_OPTIONS "${process.execPath}" -e '${post}' "$1"\n`);
  chmodSync(command, 0o755);
  return {
    variables: { BROWSER: command, PATH: `${bin}:${process.env["PATH"] ?? ""}` },
    opened: () => opened,
    leave: () => void (isAway = true),
    close,
  };
}
