/** The vendor's account of a user, from a vendor with every kind of wrong response. */
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { OAuthError } from "../../protocol/errors.ts";
import { ACCESS_TOKEN, type Answer, CLIENT_ID } from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../../testing/network/vendor-lab.ts";
import type { AccountEndpoint, TokenPlace } from "../../registry/account.ts";
import type { Vendor } from "../../registry/vendor.ts";

const lab = labOfEachTest();

const ask = async (changes: Partial<Vendor> = {}) => lab.client.account(await lab.resolve(changes), ACCESS_TOKEN);
const own = (changes: Partial<AccountEndpoint> = {}): Partial<Vendor> => ({
  account: { endpoint: `${lab.vendor.issuer}/me`, method: "GET", ...changes },
});
const userinfo = (): Partial<Vendor> => ({ userinfoEndpoint: `${lab.vendor.issuer}/me` });
const WAYS: readonly [string, () => Partial<Vendor>][] = [
  ["an entry's own endpoint", () => own()],
  ["userinfo", userinfo],
];

describe.each(WAYS)("the account by %s", (_title, way) => {
  it("is what the vendor answers to the token as Bearer", async () => {
    lab.vendor.answers.set("/me", { body: { sub: "1", name: "Ada" } });
    expect(await ask(way())).toEqual({ sub: "1", name: "Ada" });
    const [asked] = lab.vendor.received.filter(({ path }) => path === "/me");
    expect(asked).toMatchObject({ method: "GET", headers: { authorization: `Bearer ${ACCESS_TOKEN}` }, body: "" });
  });

  it.each([401, 414, 431])(
    "rfc6750#3.1 is undefined when the token is refused by %i, whatever the body",
    async (status) => {
      const headers = { "www-authenticate": 'Bearer error="invalid_token"', "content-type": "text/html" };
      lab.vendor.answers.set("/me", { status, headers, body: "<html>" });
      expect(await ask(way())).toBeUndefined();
    },
  );

  it("rfc6750#3.1 is undefined for invalid_token with 400, and an error for any other 400", async () => {
    for (const error of ["invalid_token", "INVALID_TOKEN"]) {
      lab.vendor.answers.set("/me", { status: 400, body: { error } });
      expect(await ask(way())).toBeUndefined();
    }
    lab.vendor.answers.set("/me", { status: 400, body: { error: "invalid_request" } });
    await expect(ask(way())).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it("rfc6750#3.1 is an error of its own when the token is too narrow", async () => {
    lab.vendor.answers.set("/me", { status: 403, body: { error: "insufficient_scope" } });
    await expect(ask(way())).rejects.toMatchObject({
      code: "vendor_response_invalid",
      extras: { reason: "account_forbidden" },
    });
  });

  it.each<[string, Answer]>([
    ["500", { status: 500 }],
    ["429", { status: 429 }],
    ["403 over its limit", { status: 403, headers: { "x-ratelimit-remaining": "0" } }],
    ["403 with Retry-After", { status: 403, headers: { "retry-after": "7" } }],
    ["half an answer", (response) => void response.writeHead(200).write("{", () => response.destroy())],
  ])("is an outage when the vendor answers %s", async (_answer, answer) => {
    lab.vendor.answers.set("/me", answer);
    const error: unknown = await ask(way()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "temporarily_unavailable", status: 503 });
    expect(error).not.toMatchObject({ extras: { retry: "restart" } });
  });

  it.each<[string, Answer]>([
    ["HTML", { headers: { "content-type": "text/html" }, body: "<html>" }],
    ["a list", { body: "[]" }],
    ["a member twice", { body: '{"sub":"1","sub":"2"}' }],
    ["a redirect", { status: 302, headers: { location: "https://elsewhere.example/" } }],
    ["404", { status: 404, body: { sub: "1" } }],
    ["ten megabytes", { body: { sub: "x".repeat(10_000_000) } }],
  ])("is refused when the vendor answers with %s", async (_answer, answer) => {
    lab.vendor.answers.set("/me", answer);
    await expect(ask(way())).rejects.toMatchObject({ code: "vendor_response_invalid", status: 502 });
  });
});

describe("the account", () => {
  it("oidc-core#5.3.2 by userinfo has a sub", async () => {
    lab.vendor.answers.set("/me", { body: { id: "1" } });
    await expect(ask(userinfo())).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it("bar#UI-1 by userinfo is of the ID token's subject, where one is known (#11)", async () => {
    const vendor = await lab.resolve(userinfo());
    lab.vendor.answers.set("/me", { body: { sub: "1" } });
    expect(await lab.client.account(vendor, ACCESS_TOKEN, "1")).toEqual({ sub: "1" });
    for (const sub of ["2", "", "1 ", 1, null, undefined]) {
      lab.vendor.answers.set("/me", { body: { sub } });
      await expect(lab.client.account(vendor, ACCESS_TOKEN, "1"), String(sub)).rejects.toMatchObject({
        code: "vendor_response_invalid",
      });
    }
  });

  it("by an endpoint of the entry's own is not compared: it has names of its own for users", async () => {
    lab.vendor.answers.set("/me", { body: { id: 42 } });
    expect(await lab.client.account(await lab.resolve(own()), ACCESS_TOKEN, "1")).toEqual({ id: 42 });
  });

  it.each(["application/jwt", "application/json", "text/plain"])(
    "bar#UI-2 by userinfo is refused if signed, with any alg, aud and iss: %s (#11)",
    async (type) => {
      const { issuer } = lab.vendor;
      for (const [alg, aud, iss] of [
        ["none", CLIENT_ID, issuer],
        ["RS256", "another-client", issuer],
        ["RS256", CLIENT_ID, "https://evil.example"],
        ["RS256", CLIENT_ID, issuer],
      ]) {
        const parts = [{ alg }, { sub: "1", aud, iss }].map((part) =>
          Buffer.from(JSON.stringify(part)).toString("base64url"),
        );
        lab.vendor.answers.set("/me", { headers: { "content-type": type }, body: `${parts.join(".")}.c2ln` });
        await expect(ask(userinfo())).rejects.toMatchObject({ code: "vendor_response_invalid" });
      }
    },
  );

  it("is found by metadata", async () => {
    lab.vendor.describe({ userinfo_endpoint: `${lab.vendor.issuer}/me` });
    lab.vendor.answers.set("/me", { body: { sub: "1" } });
    expect(await ask()).toEqual({ sub: "1" });
  });

  it("is a server_error where the vendor has none", async () => {
    await expect(ask()).rejects.toMatchObject({ code: "server_error", extras: { reason: "account_unknown" } });
  });

  it("is asked for with the query and the headers of the entry, and read from its member", async () => {
    const query = { query: "{ viewer { id } }" };
    lab.vendor.answers.set("/me", { body: { data: { viewer: { id: "u1" } } } });
    const entry = own({ method: "POST", body: query, headers: { "x-version": "3" }, member: "data.viewer" });
    expect(await ask(entry)).toEqual({ id: "u1" });
    const [asked] = lab.vendor.received.filter(({ path }) => path === "/me");
    expect(asked).toMatchObject({ method: "POST", headers: { "x-version": "3", "content-type": "application/json" } });
    expect(JSON.parse(asked?.body ?? "")).toEqual(query);
  });

  const NO_PLACE = { authorization: undefined };
  it.each<[string, TokenPlace, string, object]>([
    ["another scheme", { in: "header", scheme: "OAuth" }, "/me?v=1", { authorization: `OAuth ${ACCESS_TOKEN}` }],
    ["no scheme", { in: "header" }, "/me?v=1", { authorization: ACCESS_TOKEN }],
    ["a header", { in: "header", name: "x-token" }, "/me?v=1", { ...NO_PLACE, "x-token": ACCESS_TOKEN }],
    ["a parameter", { in: "query", name: "oauth_token" }, `/me?v=1&oauth_token=${ACCESS_TOKEN}`, NO_PLACE],
  ])("rfc6750#2 is asked for with the token by %s, and in no second place", async (_place, token, path, headers) => {
    lab.vendor.answers.set("/me", { body: { id: 1 } });
    const endpoint = `${lab.vendor.issuer}/me?v=1`;
    expect(await ask(own({ endpoint, token, headers: { "user-agent": "acme/1.0" } }))).toEqual({ id: 1 });
    const [asked] = lab.vendor.received.filter((one) => one.path.startsWith("/me"));
    expect(asked?.path).toBe(path);
    const sent = { authorization: undefined, ...asked?.headers };
    expect(sent).toMatchObject({ ...headers, "user-agent": "acme/1.0" });
  });

  it("is the first of a list, or of a list within the response", async () => {
    lab.vendor.answers.set("/me", { body: [{ id: "u1" }, { id: "u2" }] });
    expect(await ask(own({ member: "0" }))).toEqual({ id: "u1" });
    lab.vendor.answers.set("/me", { body: { data: [{ id: "u1" }] } });
    expect(await ask(own({ member: "data.0" }))).toEqual({ id: "u1" });
  });

  it.each([["[]"], ["[null]"], ["[[]]"], ['["u1"]'], ["7"]])(
    "bar#XA-10 is refused where the list is %s",
    async (body) => {
      lab.vendor.answers.set("/me", { headers: { "content-type": "application/json" }, body });
      await expect(ask(own({ member: "0" }))).rejects.toMatchObject({ code: "vendor_response_invalid" });
    },
  );

  const refusing = (): Partial<Vendor> =>
    own({ member: "data", refusal: { member: "errors.0.code", values: ["NOT_SIGNED_IN"] } });

  it("is undefined when a 200 refuses the token", async () => {
    lab.vendor.answers.set("/me", { body: { errors: [{ code: "NOT_SIGNED_IN" }] } });
    expect(await ask(refusing())).toBeUndefined();
  });

  it.each([
    ["ratelimited", "temporarily_unavailable"],
    ["SOMETHING", "vendor_response_invalid"],
    [7, "vendor_response_invalid"],
  ])("is an error when a 200 says %s", async (code, ours) => {
    lab.vendor.answers.set("/me", { body: { errors: [{ code }], data: { id: "u1" } } });
    await expect(ask(refusing())).rejects.toMatchObject({ code: ours });
  });

  it("bar#XA-10 is refused where its member is missing", async () => {
    lab.vendor.answers.set("/me", { body: { data: null } });
    await expect(ask(refusing())).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it.each<[string, TokenPlace | undefined, Answer]>([
    ["in its header", undefined, { status: 404, body: { token: ACCESS_TOKEN } }],
    ["in its URL", { in: "query", name: "t" }, { status: 404, body: {} }],
    ["in its URL, redirected", { in: "query", name: "t" }, { status: 302, headers: { location: "/elsewhere" } }],
    ["in its URL, cut off", { in: "query", name: "t" }, (response) => void response.destroy()],
  ])("puts a token that was %s into no error", async (_place, token, answer) => {
    lab.vendor.answers.set("/me", answer);
    const error: unknown = await ask(own(token && { token })).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OAuthError);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(ACCESS_TOKEN);
  });
});
