import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createRemoteJWKSet, jwtVerify, type JWTPayload } from "jose";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { startFakeVendor } from "./start-fake-vendor.ts";

const vendor = shared(() => startFakeVendor({ codes: "any" }));

const token = (form: Record<string, string>): Promise<Response> =>
  fetch(vendor.tokenEndpoint, { method: "POST", body: new URLSearchParams(form) });

describe("the fake vendor that accepts any code", () => {
  it("sends the browser back at once with a code and the same state", async () => {
    const query = new URLSearchParams({ redirect_uri: "http://127.0.0.1:9/back", state: "a b&c", code_challenge: "x" });
    const answer = await fetch(`${vendor.authorizationEndpoint}?${query.toString()}`, { redirect: "manual" });
    const location = new URL(answer.headers.get("Location") ?? "");
    expect([answer.status, location.pathname, location.searchParams.get("state")]).toEqual([303, "/back", "a b&c"]);
    expect(location.searchParams.get("code")).toMatch(/^[\w-]{32}$/);
  });

  it("answers other tokens each time, to codes with a verifier and to refresh tokens", async () => {
    const first = await (await token({ code: "c", code_verifier: "v" })).json();
    const second = await (await token({ refresh_token: "r" })).json();
    const shape = {
      access_token: expect.stringMatching(/^at-/),
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^rt-/),
      scope: "read write",
    };
    expect([first, second]).toEqual([shape, shape]);
    expect(first).not.toEqual(second);
  });

  it("signs an ID token with the nonce for the scope openid", async () => {
    const query = new URLSearchParams({ redirect_uri: "http://127.0.0.1:9/back", nonce: "n-1", code_challenge: "x" });
    const back = await fetch(`${vendor.authorizationEndpoint}?${query.toString()}`, { redirect: "manual" });
    const code = new URL(back.headers.get("Location") ?? "").searchParams.get("code") ?? "";
    const keys = createRemoteJWKSet(new URL(`${vendor.url}/jwks`));
    const ask = async (form: Record<string, string>): Promise<JWTPayload> => {
      const authorization = `Basic ${Buffer.from("client:secret").toString("base64")}`;
      const body = new URLSearchParams(form);
      const answer = await fetch(vendor.tokenEndpoint, { method: "POST", body, headers: { authorization } });
      const { id_token } = (await answer.json()) as { id_token: string };
      return (await jwtVerify(id_token, keys, { issuer: vendor.url, audience: "client" })).payload;
    };
    expect(await ask({ code, code_verifier: "v" })).toMatchObject({ nonce: "n-1", sub: "user-1" });
    expect(await ask({ refresh_token: "rt-openid-1" })).toMatchObject({ sub: "user-1" });
  });

  it("refuses a code without a verifier", async () => {
    expect((await token({ code: "c" })).status).toBe(400);
  });

  it("runs as a program that says where it is", async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL("start-fake-vendor.ts", import.meta.url)), "any"]);
    const exited = once(child, "exit");
    const [line] = await once(createInterface(child.stdout), "line");
    const { url } = JSON.parse(String(line));
    expect((await fetch(`${url}/revoke`, { method: "POST" })).status).toBe(200);
    child.kill();
    await exited;
  });
});
