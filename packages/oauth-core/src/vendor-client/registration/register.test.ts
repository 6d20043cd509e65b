import { describe, expect, it } from "vitest";
import { Secret } from "../../protocol/secret.ts";
import type { Answer } from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../../testing/network/vendor-lab.ts";
import type { Vendor } from "../../registry/vendor.ts";
import type { RegistrationRequest } from "./register.ts";

const lab = labOfEachTest({ timeoutMs: 1_000 });

const REDIRECT_URI = "https://broker.example/v1/callback";
const register = (entry: Partial<Vendor> = {}, request: Partial<RegistrationRequest> = {}) =>
  lab.client.registerClient({ ...lab.vendor.entry, ...entry }, { redirectUri: REDIRECT_URI, ...request });
/** The vendor's endpoint, in its metadata. */
const offer = (answer: Answer, metadata: Record<string, unknown> = {}) => {
  lab.vendor.describe({ registration_endpoint: `${lab.vendor.issuer}/register`, ...metadata });
  lab.vendor.answers.set("/register", answer);
};
const sent = () => lab.vendor.received.filter(({ path }) => path === "/register");
const metadataSent = () => JSON.parse(sent()[0]?.body ?? "{}") as Record<string, unknown>;
const text = (body: Uint8Array): string => Buffer.from(body).toString("latin1");

describe("the request", () => {
  it("rfc7591#3.1 rfc7591#2 bar#DC-1 is one POST of our own metadata, with our callback", async () => {
    offer({ status: 201, body: {} });
    await register({ defaultScopes: ["read", "write"], scopeSeparator: "," });
    expect(sent()).toHaveLength(1);
    expect(sent()[0]).toMatchObject({
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
    });
    expect(sent()[0]?.headers).not.toHaveProperty("authorization");
    expect(metadataSent()).toEqual({
      client_name: "OAuth broker",
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_basic",
      application_type: "web",
      scope: "read write",
    });
  });

  it("rfc7591#2 asks for no scope where the entry has none", async () => {
    offer({ status: 201, body: {} });
    await register({ defaultScopes: [] });
    expect(metadataSent()).not.toHaveProperty("scope");
  });

  it("rfc7591#3 presents an initial access token as Bearer", async () => {
    offer({ status: 201, body: {} });
    await register({}, { initialAccessToken: new Secret("iat-of-the-owner") });
    expect(sent()[0]?.headers.authorization).toBe("Bearer iat-of-the-owner");
  });

  it.each<[string, Vendor["tokenEndpointAuthMethod"], readonly string[] | undefined, string]>([
    ["the entry's where nothing is listed", "client_secret_post", undefined, "client_secret_post"],
    [
      "the entry's where it is listed",
      "client_secret_post",
      ["none", "client_secret_basic", "client_secret_post"],
      "client_secret_post",
    ],
    [
      "Basic where the entry's is not",
      "client_secret_post",
      ["private_key_jwt", "client_secret_basic", "none"],
      "client_secret_basic",
    ],
    ["the body where only that is", "client_secret_basic", ["none", "client_secret_post"], "client_secret_post"],
    ["none where that is all there is", "client_secret_basic", ["none"], "none"],
    ["none before what we do not speak", "client_secret_basic", ["private_key_jwt", "none"], "none"],
    ["the entry's where we speak nothing of it", "client_secret_post", ["private_key_jwt"], "client_secret_post"],
    ["none where the entry says so", "none", ["client_secret_basic", "none"], "none"],
  ])("rfc7591#2 registers for client authentication by %s", async (_title, method, listed, expected) => {
    offer({ status: 201, body: {} }, { token_endpoint_auth_methods_supported: listed });
    await register({ tokenEndpointAuthMethod: method });
    expect(metadataSent()["token_endpoint_auth_method"]).toBe(expected);
  });
});

describe("the endpoint", () => {
  it("is the entry's own, and metadata still says how clients authenticate", async () => {
    offer({ status: 404 }, { token_endpoint_auth_methods_supported: ["none"] });
    lab.vendor.answers.set("/own", { status: 201, body: {} });
    await expect(register({ registrationEndpoint: `${lab.vendor.issuer}/own` })).resolves.toMatchObject({
      status: 201,
    });
    const own = lab.vendor.received.find(({ path }) => path === "/own");
    expect(JSON.parse(own?.body ?? "")).toMatchObject({ token_endpoint_auth_method: "none" });
    expect(sent()).toEqual([]);
  });

  it.each([
    ["is down", { status: 503 }],
    ["is an HTML page", { body: "<html>" }],
    [
      "is another issuer's",
      { body: { issuer: "https://other.example", registration_endpoint: "https://other.example/r" } },
    ],
  ])("is asked although the metadata %s, where the entry names it", async (_title, answer) => {
    lab.vendor.answers.set("/.well-known/openid-configuration", answer);
    lab.vendor.answers.set("/own", { status: 201, body: {} });
    await expect(register({ registrationEndpoint: `${lab.vendor.issuer}/own` })).resolves.toMatchObject({
      status: 201,
    });
  });

  it.each<[string, Partial<Vendor>]>([
    ["metadata names none", {}],
    ["the issuer is a template", { issuer: "https://{tenant}.vendor.example" }],
    ["the endpoint is a template", { registrationEndpoint: "https://{tenant}.vendor.example/register" }],
  ])("is missing where %s, and no other endpoint is asked", async (_title, entry) => {
    await expect(register(entry)).rejects.toMatchObject({
      code: "invalid_request",
      extras: { reason: "registration_not_supported" },
    });
    expect(sent()).toEqual([]);
  });

  it("is missing where the entry has neither it nor an issuer, without any request", async () => {
    const { issuer, ...entry } = lab.vendor.entry;
    await expect(
      lab.client.registerClient({ ...entry, tokenEndpoint: `${issuer}/token` }, { redirectUri: REDIRECT_URI }),
    ).rejects.toMatchObject({ code: "invalid_request" });
    expect(lab.vendor.received).toEqual([]);
  });

  it.each([
    ["no metadata, which a vendor with known endpoints need not have", { status: 404 }, "invalid_request"],
    ["an outage", { status: 503 }, "temporarily_unavailable"],
    ["metadata of another issuer", { body: { issuer: "https://other.example" } }, "vendor_response_invalid"],
  ])("is missing, or cannot be found, after %s", async (_title, answer, code) => {
    lab.vendor.answers.set("/.well-known/openid-configuration", answer);
    lab.vendor.answers.set("/.well-known/oauth-authorization-server", answer);
    const { issuer } = lab.vendor;
    const entry = { authorizationEndpoint: `${issuer}/authorize`, tokenEndpoint: `${issuer}/token` };
    await expect(register(entry)).rejects.toMatchObject({ code });
  });

  it.each([
    ["a page instead of metadata", { body: "<html>" }, { code: "vendor_response_invalid", status: 502 }],
    ["metadata that is down", { status: 503 }, { code: "temporarily_unavailable", status: 503 }],
  ])("cannot be discovered from %s", async (_title, answer, error) => {
    lab.vendor.answers.set("/.well-known/openid-configuration", answer);
    lab.vendor.answers.set("/.well-known/oauth-authorization-server", answer);
    await expect(register()).rejects.toMatchObject(error);
  });
});

describe("the answer", () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x20, 0xff, 0x00, 0x22, 0x0d, 0x0a, 0x7d]);

  it.each([200, 201, 202, 400, 401, 403, 404, 422, 429, 500, 503])(
    "bar#DC-7 comes back as it is with status %i",
    async (status) => {
      offer((response) => void response.writeHead(status, { "content-type": "text/html; charset=latin1" }).end(bytes));
      const answer = await register();
      expect(answer).toMatchObject({ status, contentType: "text/html; charset=latin1" });
      expect(text(answer.body)).toBe(bytes.toString("latin1"));
      expect(Object.keys(answer).toSorted()).toEqual(["body", "contentType", "status"]);
    },
  );

  it("has no type where the vendor names none, and may be empty", async () => {
    offer((response) => void response.writeHead(204).end());
    await expect(register()).resolves.toEqual({ status: 204, body: new Uint8Array() });
  });

  it.each([300, 301, 302, 303, 304, 307, 308])(
    "bar#EG-6 is refused where it is a %i, and nothing follows it",
    async (status) => {
      offer({ status, headers: { location: "/elsewhere" }, ...(status === 304 ? {} : { body: { client_id: "c" } }) });
      await expect(register()).rejects.toMatchObject({ code: "vendor_response_invalid", status: 502 });
      expect(lab.vendor.asked()).not.toContain("/elsewhere");
    },
  );

  it("bar#EG-8 is refused where it is too long", async () => {
    offer({ status: 201, body: "x".repeat(262_145) });
    await expect(register()).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it.each<[string, Answer]>([
    ["never comes", () => undefined],
    ["ends at once", (response) => void response.socket?.destroy()],
    [
      "is cut short",
      (response) =>
        void response.writeHead(201, { "content-length": "99" }).write("{", () => response.socket?.destroy()),
    ],
  ])("is requested once, also where it %s", async (_title, answer) => {
    offer(answer);
    await expect(register()).rejects.toMatchObject({ code: "temporarily_unavailable", status: 503 });
    expect(sent()).toHaveLength(1);
  });

  it("is an outage when the vendor cannot be reached", async () => {
    await lab.vendor.close();
    await expect(register({ registrationEndpoint: `${lab.vendor.issuer}/register` })).rejects.toMatchObject({
      code: "temporarily_unavailable",
    });
  });
});
