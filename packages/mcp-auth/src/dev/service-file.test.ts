import { describe, expect, it } from "vitest";
import { parseServiceFile } from "./service-file.ts";

describe("service.yaml", () => {
  it("gives the name, and the environment as text", () => {
    const text = "name: my-server\nenable_db: true\nenvironment:\n  VENDOR: github\n  PORT: 8788\n  A: true\n  B:\n";
    expect(parseServiceFile(text)).toEqual({
      name: "my-server",
      environment: { VENDOR: "github", PORT: "8788", A: "true", B: "" },
    });
    expect(parseServiceFile("name: x")).toEqual({ name: "x", environment: {} });
  });

  it.each([
    ["", /is empty/],
    ["mode: hosted", /needs a name/],
    ["name: x\nenvironment: [a]", /must be a list of NAME: value/],
    ["name: x\nenvironment:\n  VENDOR_PLACEHOLDERS: {tenant: t}", /VENDOR_PLACEHOLDERS in service.yaml must be text/],
    ["name: x\nname: y", /service.yaml cannot be read/],
  ])("%j is refused", (text, message) => {
    expect(() => parseServiceFile(text)).toThrow(message);
  });
});
