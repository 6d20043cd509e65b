/** A server inside another program: what it answers, and what it leaves alone. */
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createMcpHandler, type McpHandler } from "./handler.ts";
import { HOSTED, PRE_REGISTERED } from "./testing/environments.ts";

const DEFINITION = { name: "test", version: "1.0.0", tools: [] };
afterEach(() => vi.restoreAllMocks());

async function handlerOf(settings: Readonly<Record<string, string>> = {}): Promise<McpHandler> {
  const environment = { ...HOSTED, DATA_DIR: temporaryFolder(), ...settings };
  const handler = await createMcpHandler(DEFINITION, environment, { log: () => undefined });
  onTestFinished(() => handler.close());
  return handler;
}

describe("a server inside another program", () => {
  it("answers what it lists, and nothing else", async () => {
    const { fetch, routes } = await handlerOf();
    expect(routes).toContainEqual({ method: "POST", path: "/mcp" });
    expect(routes).toContainEqual({ method: "GET", path: "/.well-known/oauth-authorization-server" });
    const metadata = await fetch(new Request(`${HOSTED.DEPLOYMENT_URL}/.well-known/oauth-authorization-server`));
    expect(await metadata.json()).toMatchObject({ issuer: HOSTED.DEPLOYMENT_URL });
    const challenge = await fetch(new Request(`${HOSTED.DEPLOYMENT_URL}/mcp`, { method: "POST", body: "{}" }));
    expect([challenge.status, challenge.headers.get("www-authenticate")]).toEqual([
      401,
      expect.stringMatching(/^Bearer/),
    ]);
    expect((await fetch(new Request(`${HOSTED.DEPLOYMENT_URL}/app/mcp`, { method: "POST" }))).status).toBe(404);
  });

  it("bar#RS-7 is never at another host, with or without a Host header", async () => {
    const { fetch } = await handlerOf();
    const path = "/.well-known/oauth-authorization-server";
    expect((await fetch(new Request(`https://evil.example${path}`))).status).toBe(403);
    const foreign = { headers: { host: "evil.example" } };
    expect((await fetch(new Request(`${HOSTED.DEPLOYMENT_URL}${path}`, foreign))).status).toBe(403);
    const { DEPLOYMENT_URL: _, ...without } = HOSTED;
    await expect(createMcpHandler(DEFINITION, { ...PRE_REGISTERED })).rejects.toThrow("DEPLOYMENT_URL is missing");
    await expect(createMcpHandler(DEFINITION, without)).rejects.toThrow("DEPLOYMENT_URL is missing");
  });

  it("names the settings that are no text", async () => {
    const settings = { ...HOSTED, EGRESS_ALLOW_LOOPBACK: true, ALLOWED_ORIGINS: [], VENDOR_CLIENT_SECRET: null };
    await expect(createMcpHandler(DEFINITION, settings as never)).rejects.toThrow(
      /3 problems in its settings[^]*SECRET must be text[^]*LOOPBACK must be text[^]*ORIGINS must be text/,
    );
  });

  it("runs twice in one process, each with its own settings", async () => {
    const [one, other] = [await handlerOf(), await handlerOf({ DEPLOYMENT_URL: "https://other.example.com" })];
    const issuerOf = async ({ fetch }: McpHandler, at: string): Promise<unknown> =>
      ((await (await fetch(new Request(`${at}/.well-known/oauth-authorization-server`))).json()) as { issuer: string })
        .issuer;
    expect(await issuerOf(one, HOSTED.DEPLOYMENT_URL)).toBe(HOSTED.DEPLOYMENT_URL);
    expect(await issuerOf(other, "https://other.example.com")).toBe("https://other.example.com");
    await one.close();
    expect(await issuerOf(other, "https://other.example.com")).toBe("https://other.example.com");
  });

  it("leaves arguments, ports, signals, rejections and stdout to the program", async () => {
    const names = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "unhandledRejection", "uncaughtException"];
    const handlers = (): number[] => names.map((name) => process.listenerCount(name));
    const ports = (): string[] => process.getActiveResourcesInfo().filter((name) => name.includes("Server"));
    const before = { handlers: handlers(), ports: ports() };
    const stdout = vi.spyOn(process.stdout, "write");
    const args = vi.spyOn(process, "argv", "get");
    const { fetch } = await handlerOf({ PORT: "1", METRICS_PORT: "2" });
    await fetch(new Request(`${HOSTED.DEPLOYMENT_URL}/healthz`));
    expect({ handlers: handlers(), ports: ports() }).toEqual(before);
    expect(stdout).not.toHaveBeenCalled();
    expect(args).not.toHaveBeenCalled();
  });

  it("bar#ST-8 counts by the address it is given, and never by a header of a stranger", async () => {
    const { fetch } = await handlerOf({ LIMITS_REQUESTS_PER_MINUTE: "1" });
    const ask = async (remoteAddress: string | undefined, forwarded: string): Promise<number> => {
      const headers = { "x-forwarded-for": forwarded };
      return (await fetch(new Request(`${HOSTED.DEPLOYMENT_URL}/authorize`, { headers }), { remoteAddress })).status;
    };
    expect(await ask("203.0.113.1", "198.51.100.1")).toBe(400);
    expect(await ask("203.0.113.1", "198.51.100.2")).toBe(429);
    expect(await ask("203.0.113.2", "198.51.100.2")).toBe(400);
    expect([await ask(undefined, "198.51.100.3"), await ask(undefined, "198.51.100.4")]).toEqual([400, 429]);
  });
});
