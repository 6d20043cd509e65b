/** The fields by which entries describe the token requests of their vendors, checked on the wire. */
import { describe, expect, it } from "vitest";
import { CLIENT_ID } from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../../testing/network/vendor-lab.ts";
import type { Vendor } from "../../registry/vendor.ts";
import { keptOf } from "../kept.ts";

describe("a token request", () => {
  const lab = labOfEachTest({ timeoutMs: 1_000 });

  it("uses the vendor's names too, in either kind of body, and no resource where it is refused", async () => {
    const entry = {
      tokenEndpointAuthMethod: "client_secret_post",
      parameterNames: { client_id: "client_key", grant_type: "" },
      resource: "omit",
    } as const;
    await lab.vendor.grant();
    await lab.redeem({ entry, request: { resource: "https://mcp.v.example" } });
    const form = lab.vendor.received.find(({ path }) => path === "/token")?.form;
    expect([form?.get("client_key"), form?.has("client_id"), form?.has("grant_type"), form?.has("resource")]).toEqual([
      CLIENT_ID,
      false,
      false,
      false,
    ]);
    await lab.vendor.grant();
    await lab.redeem({ entry: { ...entry, tokenRequestBody: "json" } });
    const body = lab.vendor.received.filter(({ path }) => path === "/token").at(-1)?.body ?? "";
    expect(JSON.parse(body)).toMatchObject({ client_key: CLIENT_ID });
    expect(body).not.toContain("grant_type");
  });

  it("has the entry's fixed parameters, those of its grant alone, and none in the place of ours", async () => {
    const entry = {
      tokenEndpointAuthMethod: "client_secret_post",
      codeExchangeParams: { expiring: "1", code: "theirs", client_id: "theirs" },
      refreshParams: { action: "requesttoken", refresh_token: "theirs" },
    } as const;
    await lab.vendor.grant();
    await lab.redeem({ entry });
    const form = lab.vendor.received.find(({ path }) => path === "/token")?.form;
    expect(form?.getAll("expiring")).toEqual(["1"]);
    expect(form?.has("action")).toBe(false);
    expect(form?.getAll("client_id")).toEqual([CLIENT_ID]);
    expect(form?.getAll("code")).toEqual([lab.request.code]);
    lab.vendor.answers.set("/token", { body: { access_token: "a", token_type: "bearer" } });
    await lab.client.refreshTokens(await lab.resolve(entry), lab.vendor.credentials, { refreshToken: "rt" });
    const refresh = lab.vendor.received.at(-1)?.form;
    expect(Object.fromEntries(refresh ?? [])).toMatchObject({ action: "requesttoken", refresh_token: "rt" });
    expect(refresh?.has("expiring")).toBe(false);
  });

  it("repeats the callback parameters that the entry says, and no others", async () => {
    const entry = { callbackParams: ["context", "shop", "code"], echoedCallbackParams: ["context", "code", "absent"] };
    await lab.vendor.grant();
    const callbackData = { context: "stores/1&x=y", shop: "other", code: "theirs", state: "s" };
    await lab.redeem({ entry, request: { callbackData } });
    const form = lab.vendor.received.find(({ path }) => path === "/token")?.form;
    expect(form?.getAll("context")).toEqual(["stores/1&x=y"]);
    expect(form?.getAll("code")).toEqual([lab.request.code]);
    for (const name of ["shop", "state", "absent", "x"]) expect(form?.has(name), name).toBe(false);
  });

  it("of a refresh repeats what was kept of the callback, and nothing else", async () => {
    const names = ["device_id", "refresh_token"];
    const entry = { callbackParams: ["device_id", "shop"], refreshCallbackParams: names };
    const { callbackData: kept } = keptOf(await lab.resolve(entry), { device_id: "d&x=y", shop: "other", empty: "" });
    expect(kept).toEqual({ device_id: "d&x=y" });
    expect(keptOf(await lab.resolve(), { device_id: "d" })).not.toHaveProperty("callbackData");
    lab.vendor.answers.set("/token", { body: { access_token: "a", token_type: "bearer" } });
    const callbackData = { ...kept, refresh_token: "theirs", shop: "other" };
    await lab.refresh({ entry, request: { refreshToken: "rt", callbackData } });
    const form = lab.vendor.received.at(-1)?.form;
    expect([form?.getAll("device_id"), form?.getAll("refresh_token")]).toEqual([["d&x=y"], ["rt"]]);
    expect([form?.has("shop"), form?.has("x")]).toEqual([false, false]);
  });

  it("repeats the state, and has the vendor's name of our address, where the entry says so", async () => {
    const sent = async (entry: Partial<Vendor>) => {
      await lab.vendor.grant();
      await lab.redeem({ entry, request: { state: "ours" } });
      const form = lab.vendor.received.findLast(({ path }) => path === "/token")?.form;
      return [form?.getAll("state"), form?.getAll("redirect_uri")];
    };
    expect(await sent({})).toEqual([[], [lab.request.redirectUri]]);
    expect(await sent({ repeatsState: true })).toEqual([["ours"], [lab.request.redirectUri]]);
    expect(await sent({ redirectUriAlias: "Acme-App" })).toEqual([[], ["Acme-App"]]);
  });

  it("has the secret as the user name, with an empty password, where the entry says so", async () => {
    lab.vendor.answers.set("/token", { body: { access_token: "a", token_type: "bearer" } });
    const vendor = await lab.resolve({ secretIsUserName: true });
    await lab.client.refreshTokens(vendor, lab.vendor.credentials, { refreshToken: "rt" });
    const request = lab.vendor.received.at(-1);
    const secret = lab.vendor.credentials.clientSecret?.reveal() ?? "";
    expect(request?.headers.authorization).toBe(`Basic ${btoa(`${secret}:`)}`);
    expect([request?.form.has("client_id"), request?.form.has("client_secret")]).toEqual([false, false]);
  });
});
