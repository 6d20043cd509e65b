/** What each runtime says of a failure, as `npm run test:runtimes` saw it there. */
import { describe, expect, it } from "vitest";
import { type Connect, connectOfRuntime, isUnsent, refusesConnections } from "./unsent.ts";

const failed = (cause: object) => Object.assign(new TypeError("fetch failed"), { cause });
const deno = (text: string) =>
  failed(new Error(`error sending request for url (http://127.0.0.1:9/): client error (${text}`));

describe("isUnsent", () => {
  it.each([
    ["Node.js, refused", failed({ code: "ECONNREFUSED" }), true],
    ["Node.js, hung up", failed({ code: "UND_ERR_SOCKET" }), false],
    ["Bun, refused", Object.assign(new TypeError("x"), { code: "ECONNREFUSED" }), true],
    ["Bun of before, refused", Object.assign(new Error("x"), { code: "ConnectionRefused" }), true],
    ["Bun, hung up", Object.assign(new TypeError("x"), { code: "ECONNRESET" }), false],
    ["Deno, refused", deno("Connect): tcp connect error: Connection refused (os error 111)"), true],
    ["Deno, no such name", deno("Connect): dns error: failed to lookup address information"), true],
    ["Deno, hung up", deno("SendRequest): connection closed before message completed"), false],
    ["workerd, either", Object.assign(new Error("Network connection lost."), { retryable: true }), false],
    ["no error", "text", false],
  ])("%s", (_, error, expected) => {
    expect(isUnsent(error)).toBe(expected);
  });
});

describe("refusesConnections", () => {
  const asked: unknown[] = [];
  const connecting =
    (opened: () => Promise<unknown>): Connect =>
    (address) => {
      asked.push(address);
      return { opened: opened(), close: async () => undefined };
    };

  it("is true where no connection opens, false where one does, and false in other runtimes", async () => {
    const refused = connecting(() => Promise.reject(new Error("cannot connect to the specified address")));
    expect(await refusesConnections("http://127.0.0.1:9/v1/token", refused)).toBe(true);
    expect(
      await refusesConnections(
        new URL("https://broker.example/v1/token"),
        connecting(async () => ({})),
      ),
    ).toBe(false);
    expect(await refusesConnections("http://127.0.0.1:9/", undefined)).toBe(false);
    expect(asked).toEqual([
      { hostname: "127.0.0.1", port: 9 },
      { hostname: "broker.example", port: 443 },
    ]);
    expect(await connectOfRuntime()).toBeUndefined();
  });
});
