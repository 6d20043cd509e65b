import { describe, expect, it } from "vitest";
import { foreignHostDetail, isHostOf } from "./own-host.ts";

describe("a Host header", () => {
  const HTTPS = new URL("https://server.example");
  it.each<[URL, string | undefined, boolean]>([
    [HTTPS, "server.example", true],
    [HTTPS, "SERVER.example:443", true],
    [HTTPS, "server.example:80", false],
    [HTTPS, "server.example:443:443", false],
    [HTTPS, "", false],
    [HTTPS, undefined, false],
    [new URL("http://127.0.0.1"), "127.0.0.1:80", true],
    [new URL("http://127.0.0.1:8788"), "127.0.0.1", false],
    [new URL("https://server.example:8443"), "server.example:8443", true],
  ])("rfc9110#4.2.3 of %s is %j: %s", (own, host, expected) => {
    expect(isHostOf(own, host)).toBe(expected);
  });

  it("that is foreign is in the log, bounded, and as nothing that a host cannot be", () => {
    const detail = foreignHostDetail("server.example", `"<script>?token=secret${"x".repeat(1000)}`);
    expect(detail).toMatch(/^expected Host server\.example, got \?{2}script\?\?token\?secretx+: a proxy/);
    expect(detail.length).toBeLessThan(256);
    expect(foreignHostDetail("server.example", undefined)).toContain("got none");
  });
});
