import { describe, expect, it } from "vitest";
import { CLIENT, load, MINIMAL, problemsOf, SECRET } from "./testing/config-file.ts";

const cellOf = (cell: string, options: Parameters<typeof load>[1]) => load({ ...MINIMAL, cell }, options).cell;

describe("references", () => {
  it("stand for any text, in lists and mappings too", () => {
    const env = { URI: "https://a.example/cb", ID: "cid", SECRET };
    const config = load(
      {
        ...MINIMAL,
        clients: [{ ...CLIENT, redirect_uris: ["env:URI"] }],
        vendors: {
          v: {
            name: "V",
            issuer: "https://v.example",
            credentials: [{ client_id: "env:ID", client_secret: "file:secrets/v" }],
          },
        },
      },
      { env, files: { "secrets/v": "from-file\n" } },
    );
    expect(config.clients[0]?.redirectUris).toEqual(["https://a.example/cb"]);
    const [credentials] = config.vendors.get("v")?.credentials ?? [];
    expect(credentials?.clientId).toBe("cid");
    expect(credentials?.clientSecret?.reveal()).toBe("from-file");
  });

  it("are one step: what they yield is a plain value", () => {
    expect(() => cellOf("env:A", { env: { A: "env:B", B: "eu1" } })).toThrow("cell must be 1 to 16");
  });

  it("drop the line break at the end of a file, and change nothing else", () => {
    expect(cellOf("file:cell", { files: { cell: "eu1\r\n\n" } })).toBe("eu1");
    expect(() => cellOf("file:cell", { files: { cell: " eu1" } })).toThrow("cell must be 1 to 16");
  });

  it("do not reach into keys, where file: means the file itself", () => {
    expect(load({ ...MINIMAL, keys: "file:/var/lib/keys.json" }).keys).toEqual({
      kind: "file",
      path: "/var/lib/keys.json",
    });
    expect(load({ ...MINIMAL, keys: "env:KEYS" }, { env: { KEYS: "file:/k" } }).keys).toEqual({
      kind: "file",
      path: "/k",
    });
  });

  it.each([
    ["env:NOPE", "refers to the environment variable NOPE, which is not set"],
    ["env:EMPTY", "refers to the environment variable EMPTY, which is not set"],
    ["env:", "has no variable name after env:"],
    ["env:A B", "has no variable name after env:"],
    ["file:gone", "refers to a file that does not exist"],
    ["file:empty", "refers to a file that is empty"],
    ["file:.", "refers to a file that cannot be read (EISDIR)"],
  ])("that lead nowhere are one problem each: %s", (reference, problem) => {
    const options = { env: { EMPTY: "" }, files: { empty: "\n" } };
    expect(problemsOf({ clients: [{ ...CLIENT, client_secret: reference }] }, options)).toEqual([
      `clients[0].client_secret ${problem}`,
    ]);
  });

  it.each([
    ["of any size", "x".repeat(1024 * 1024 + 1), "is larger than 1 MiB"],
    ["that are not UTF-8", Buffer.from([0x65, 0xff, 0x31]), "cannot be read (not UTF-8)"],
  ])("are not followed into files %s", (_, file, fault) => {
    expect(problemsOf({ cell: "file:it" }, { files: { it: file } })).toEqual([`cell refers to a file that ${fault}`]);
  });
});
