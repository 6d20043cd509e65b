import { describe, expect, it } from "vitest";
import { parseServiceFile } from "./service-file.ts";

describe("service.yaml", () => {
  it("gives the name, and the environment as text", () => {
    const text =
      "name: my-server\nenable_db: true\nenvironment:\n  VENDOR: github\n  PORT: 8788\n  ID: 0123456789.1234567890\n  A: true\n  B:\n";
    expect(parseServiceFile(text, {})).toEqual({
      name: "my-server",
      environment: { VENDOR: "github", PORT: "8788", ID: "0123456789.1234567890", A: "true", B: "" },
    });
    expect(parseServiceFile("name: x", {})).toEqual({ name: "x", environment: {} });
    const { environment } = parseServiceFile("name: x\nmode: hosted\nenvironment: {A: b}", {});
    expect(environment).toEqual({ OAUTH_MODE: "hosted", A: "b" });
  });

  it("takes env:NAME from the developer's environment, and leaves out what is not set there", () => {
    const text = "name: x\nenvironment:\n  A: env:MINE\n  B: env:NOT_SET\n  C: not env:MINE\n";
    expect(parseServiceFile(text, { MINE: "value" }).environment).toEqual({ A: "value", C: "not env:MINE" });
  });

  it.each([
    ["", /is empty/],
    ["mode: hosted", /needs a name/],
    ["name: x\nenvironment: [a]", /must be lines of NAME: value, without a dash/],
    ["name: x\nenvironment:\n  VENDOR_PLACEHOLDERS: {tenant: t}", /VENDOR_PLACEHOLDERS in service.yaml must be text/],
    ["name: x\nname: y", /service.yaml cannot be read/],
    ["name: x\nmode: pre-registered\nenvironment: {OAUTH_MODE: hosted}", /OAUTH_MODE in service.yaml contradicts/],
  ])("%j is refused", (text, message) => {
    expect(() => parseServiceFile(text, {})).toThrow(message);
  });
});
