import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { listen } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { OAuthError } from "@oauth-broker/oauth-core";
import { explainStartFailure } from "./run-service.ts";

describe("why a service could not start", () => {
  it.each([
    ["any error", new Error("The disk is full"), /^The disk is full$/],
    ["no error at all", "odd", /^The broker could not start\.$/],
    [
      "a port that needs rights",
      Object.assign(new Error("listen EACCES"), { code: "EACCES", syscall: "listen", port: 80 }),
      /^Not allowed to listen on port 80: choose one above 1023/,
    ],
    [
      "an address of another machine",
      Object.assign(new Error("listen EADDRNOTAVAIL"), {
        code: "EADDRNOTAVAIL",
        syscall: "listen",
        address: "203.0.113.1",
        port: 0,
      }),
      /^This machine does not have the address 203\.0\.113\.1: correct HOST\.$/,
    ],
    [
      "a name without an address",
      Object.assign(new Error("getaddrinfo ENOTFOUND a"), { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: "a" }),
      /^No address is known for a\. If HOST names it, correct it\.$/,
    ],
    [
      "a file that may not be read",
      Object.assign(new Error("EACCES: permission denied, open '/keys'"), { code: "EACCES", syscall: "open" }),
      /^EACCES: permission denied, open '\/keys'$/,
    ],
  ])("is said for %s", (_, error, sentence) => {
    expect(explainStartFailure(error, "The broker")).toMatch(sentence);
  });

  it("is said for a port in use", async () => {
    const { port, close } = await listen(createServer());
    const [error] = await once(createServer().listen(port, "127.0.0.1"), "error");
    expect(explainStartFailure(error, "The broker")).toBe(
      `Port ${port} is in use. Stop what uses it, or choose another: PORT=8790.`,
    );
    await close();
  });

  it("names what the operator can do, which callers do not see", () => {
    const detail = "there is no table tokens: create it";
    const error = new OAuthError("temporarily_unavailable", "The record store does not respond", { detail });
    expect(explainStartFailure(error, "The server")).toBe(`The record store does not respond: ${detail}`);
    const bare = new OAuthError("temporarily_unavailable", "The record store does not respond");
    expect(explainStartFailure(bare, "The server")).toBe("temporarily_unavailable: The record store does not respond");
  });
});

describe("the exit code", () => {
  const RUN = `
    import { createLog, runService } from "${new URL("index.ts", import.meta.url).href}";
    const [, how] = process.argv;
    await runService(async () => {
      process.stdout.write("starting");
      const waits = setInterval(() => {}, 1000);
      if (how === "stop fails") return { stop: () => Promise.reject(new Error("the store does not close")) };
      if (how === "start fails after the signal") await new Promise((resolve) => process.once("SIGTERM", resolve));
      clearInterval(waits);
      throw new Error("the table is missing");
    }, createLog());`;
  const ended = async (how: string): Promise<{ code: unknown; output: string }> => {
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", RUN, how]);
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const closed = once(child, "close");
    await once(child.stdout, "data");
    if (how !== "start fails") child.kill("SIGTERM");
    const [code] = await closed;
    return { code, output };
  };

  it("is 0 for a service that was stopped while it started, 1 for one that cannot start", async () => {
    expect(await ended("start fails after the signal")).toMatchObject({ code: 0 });
    expect(await ended("start fails")).toMatchObject({ code: 1 });
  });

  it("is 1 for a stop that fails, whose cause is logged", async () => {
    const { code, output } = await ended("stop fails");
    expect(code).toBe(1);
    expect(output).toContain("stop_failed");
  });
});

describe("a process that serves", () => {
  const PROGRAM = `
    import { setTimeout } from "node:timers/promises";
    import { createLog } from ${JSON.stringify(new URL("log.ts", import.meta.url).href)};
    import { runService } from ${JSON.stringify(new URL("run-service.ts", import.meta.url).href)};
    const keepsRunning = setInterval(() => undefined, 1_000);
    const stop = async () => { clearInterval(keepsRunning); process.stderr.write("drained"); };
    await runService(async () => ({ stop }), createLog());
    process.stderr.write("running;");
    process.stdin.on("data", () => process.stderr.write("alive;")).on("end", () => undefined);
  `;
  const start = () => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
      stdio: ["pipe", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const exited = once(child, "exit");
    return { child, exited, said: () => said };
  };

  it.each(["SIGINT", "SIGHUP"] as const)("is drained by %s, and exits 0", async (signal) => {
    const { child, exited, said } = start();
    await expect.poll(said).toBe("running;");
    child.kill(signal);
    expect(await exited).toEqual([0, null]);
    expect(said()).toBe("running;drained");
  });

  it("goes on after SIGUSR1 and SIGUSR2, opens no debugger, and is drained by SIGTERM", async () => {
    const { child, exited, said } = start();
    await expect.poll(said).toBe("running;");
    for (const [at, signal] of (["SIGUSR1", "SIGUSR2"] as const).entries()) {
      child.kill(signal);
      child.stdin.write("?");
      await expect.poll(said).toBe(`running;${"alive;".repeat(at + 1)}`);
    }
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    // Node would say here where its debugger listens.
    expect(said()).toBe("running;alive;alive;drained");
  });
});
