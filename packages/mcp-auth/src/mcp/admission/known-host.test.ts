import type { Route } from "@oauth-broker/service/http";
import { describe, expect, it } from "vitest";
import { mounted } from "../../../../service/src/testing/mounted.ts";
import { createKnownHost, onlyForUs } from "./known-host.ts";

const LOOPBACK = { host: "127.0.0.1", port: 8788 };
const deployed = createKnownHost({ deploymentUrl: "https://server.example", listen: LOOPBACK });
const local = createKnownHost({ deploymentUrl: "http://127.0.0.1:8788", listen: LOOPBACK });
const unnamed = createKnownHost({ deploymentUrl: undefined, listen: LOOPBACK });
const everywhere = createKnownHost({ deploymentUrl: undefined, listen: { host: "0.0.0.0", port: 80 } });
const APP = "https://app.example";
const isApp = (origin: string): boolean => origin === APP;
const deployedFor = createKnownHost({ deploymentUrl: "https://server.example", listen: LOOPBACK }, isApp);
const unnamedFor = createKnownHost({ deploymentUrl: undefined, listen: LOOPBACK }, isApp);

describe("bar#RS-7 Host and Origin", () => {
  it.each([
    [deployed, "server.example", undefined],
    [deployed, "SERVER.example", "https://server.example"],
    [local, "127.0.0.1:8788", "http://127.0.0.1:8788"],
    [unnamed, "localhost:8788", undefined],
    [unnamed, "127.0.0.1:1", "http://127.0.0.1:1"],
    [unnamed, "[::1]:8788", undefined],
    [everywhere, "server.internal", undefined],
    [everywhere, "server.internal:8080", "http://server.internal:8080"],
    [everywhere, "server.internal", "https://server.internal"],
    [deployedFor, "server.example", APP],
    [deployedFor, "server.example", "https://server.example"],
    [deployedFor, "server.example", undefined],
    [unnamedFor, "localhost:8788", APP],
  ])("takes what is ours or allowed: %#", (isKnown, host, origin) => {
    expect(isKnown(host, origin)).toBe(true);
  });

  it.each([
    [deployed, undefined, undefined],
    [deployed, "", undefined],
    [deployed, "evil.example", undefined],
    [deployed, "server.example.evil.example", undefined],
    [deployed, "server.example:8443", undefined],
    [deployed, "127.0.0.1:8788", undefined],
    [deployed, "server.example", "https://evil.example"],
    [deployed, "server.example", "http://server.example"],
    [deployed, "server.example", "null"],
    [deployed, "server.example", ""],
    [local, "localhost:8788", undefined],
    [local, "127.0.0.1:8789", undefined],
    [unnamed, "evil.example", undefined],
    [unnamed, "127.0.0.1.evil.example", undefined],
    [unnamed, "localhost.evil.example:8788", undefined],
    [unnamed, "127.0.0.1:8788", "http://127.0.0.1:9999"],
    [unnamed, "127.0.0.1:8788", "http://evil.example"],
    [unnamed, "127.0.0.1:8788", "app://127.0.0.1:8788"],
    [everywhere, "server.internal", "http://evil.example"],
    [everywhere, "not a host", undefined],
    [deployedFor, "evil.example", APP],
    [deployedFor, "app.example", APP],
    [deployedFor, "server.example", "https://evil.example"],
    [deployedFor, "server.example", "null"],
    [unnamedFor, "app.example", APP],
    [unnamedFor, "localhost:8788", "null"],
  ])("refuses what is not: %#", (isKnown, host, origin) => {
    expect(isKnown(host, origin)).toBe(false);
  });
});

describe("a refusal, for the log", () => {
  const refusal = async (
    headers: Readonly<Record<string, string>>,
    deploymentUrl: string | undefined = "https://server.example",
  ): Promise<string> => {
    const isKnown = createKnownHost({ deploymentUrl, listen: LOOPBACK });
    const route: Route = {
      method: "GET",
      path: "/x",
      surface: "api",
      handle: () => ({ status: 200, headers: {}, body: "" }),
    };
    const { app, lines } = mounted([onlyForUs(route, isKnown, deploymentUrl)]);
    expect((await app.request("http://ignored/x", { headers })).status).toBe(403);
    const { reason, detail } = JSON.parse(lines[0] ?? "{}") as Record<string, string>;
    return `${reason}: ${detail}`;
  };

  it("has the Host that came and the one that is expected", async () => {
    expect(await refusal({ host: "internal-alb:8788" })).toBe(
      "foreign_host: expected Host server.example, got internal-alb:8788: a proxy in front has to keep the Host of the request",
    );
    expect(await refusal({ host: "internal-alb" }, "https://server.example:8443")).toContain(
      "expected Host server.example:8443,",
    );
  });

  it("has the Origin, where that is what is refused", async () => {
    expect(await refusal({ host: "server.example", origin: "https://evil.example" })).toBe(
      "foreign_origin: Origin https://evil.example is neither our own nor in ALLOWED_ORIGINS",
    );
  });
});
