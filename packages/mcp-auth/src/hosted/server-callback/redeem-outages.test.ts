/** One of our codes while something else is down, restarts, or lacks PKCE. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { shared } from "@oauth-broker/oauth-core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { refuseTokens } from "../../testing/hosted-fixture.ts";
import { overwriteRow } from "../../testing/record-stores.ts";
import { openOpenIdServerFixture } from "../../testing/server-fixture.ts";

const real = shared(openOpenIdServerFixture);
afterEach(() => {
  real.down.clear();
  real.provider.faults.clear();
});

const REFUSED = { status: 400, body: { error: "invalid_grant" } };

describe("outages around a code", () => {
  it("leave it no longer than it would have lived", async () => {
    const code = await real.codeOf();
    real.provider.faults.next("/token", { kind: "drop" });
    await real.redeem(code);
    real.clock.advance(61);
    expect(await real.redeem(code)).toMatchObject(REFUSED);
  });

  it.each(["vendor", "issuer"])(
    "a code from before the operator chose another %s is not brought to the present one",
    async (field) => {
      const code = await real.codeOf();
      const key = { kind: "authorization", id: code.split(".")[0] ?? "" };
      await overwriteRow(real.records, key, (data) => ({ ...data, [field]: "https://before.example" }));
      const asked = real.provider.requests().length;
      expect(await real.redeem(code)).toMatchObject(REFUSED);
      expect(real.provider.requests()).toHaveLength(asked);
    },
  );

  it("a vendor that refuses the code is believed, and no session begins", async () => {
    const code = await real.codeOf();
    refuseTokens(real.provider);
    expect(await real.redeem(code)).toMatchObject(REFUSED);
  });

  it("without records the page is shown, and the callback is a page to reload", async () => {
    const browser = real.browser();
    const callback = await browser.consent(await browser.approve());
    const path = callback.pathname + callback.search;
    real.down.add("records");
    const page = await browser.ask();
    const refused = await browser.decide(page);
    expect(new URL(refused.headers.get("location") ?? "").searchParams.get("error")).toBe("temporarily_unavailable");
    const answer = await browser.get(path);
    expect([answer.status, answer.headers.get("location")]).toEqual([503, null]);
    real.down.clear();
    expect((await browser.finish(callback)).searchParams.has("code")).toBe(true);
  });

  it("without the key service no browser is redirected to the vendor, and a code stays valid", async () => {
    let isDown = false;
    await using sealed = await openOpenIdServerFixture({
      serverKey: () => ({
        derive: async (purpose) => {
          if (isDown)
            throw new OAuthError("temporarily_unavailable", "The key service does not answer", {
              reason: "kms_unavailable",
            });
          return Buffer.from(purpose.padEnd(32).slice(0, 32));
        },
      }),
    });
    const browser = sealed.browser();
    const back = await browser.connect();
    isDown = true;
    const refused = await browser.decide(await browser.ask());
    expect(new URL(refused.headers.get("location") ?? "").searchParams.get("error")).toBe("temporarily_unavailable");
    const code = back.searchParams.get("code") ?? "";
    expect((await sealed.redeem(code)).status).toBe(503);
    isDown = false;
    expect((await sealed.redeem(code)).status).toBe(200);
  });
});

describe("restarts and sister containers", () => {
  it("every leg can run in another process", async () => {
    await using one = await openOpenIdServerFixture();
    await using two = await openOpenIdServerFixture({
      records: () => one.table,
      serverKey: () => one.serverKey,
      vendor: one.settings.vendor.vendor,
    });
    const page = await one.browser().ask();
    expect(page.fields["csrf"]).toMatch(/^[\w-]{43}$/);
    const browser = one.browser();
    const callback = await browser.consent(await browser.approve());
    const cookie = browser.jar.header(callback) ?? "";
    const answer = await two.request(callback.pathname + callback.search, { headers: { cookie } });
    const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const { status, body } = await one.redeem(code);
    expect(status).toBe(200);
    expect(await two.sessions.identify(body["access_token"] ?? "")).toMatchObject({ user: "user" });
  });
});

describe("a vendor without PKCE", () => {
  it("bar#VR-3 is tied to the flow by the nonce of its ID token", async () => {
    await using plain = await openOpenIdServerFixture({ entry: { pkce: "none" }, provider: { pkceRequired: false } });
    const browser = plain.browser();
    const vendor = await browser.approve();
    expect([vendor.searchParams.has("nonce"), vendor.searchParams.has("code_challenge")]).toEqual([true, false]);
    const callback = await browser.consent(vendor);
    // The code of another flow, used in this one: its nonce differs.
    const other = plain.browser();
    const stolen = await other.consent(await other.approve());
    const code = callback.searchParams.get("code") ?? "";
    callback.searchParams.set("code", stolen.searchParams.get("code") ?? "");
    const back = await browser.finish(callback);
    const injected = await plain.redeem(back.searchParams.get("code"));
    expect([injected.status, injected.body["error"]]).toEqual([502, "vendor_response_invalid"]);
    expect(code).not.toBe("");
    expect((await plain.connect()).status).toBe(200);
  });

  it("bar#VR-3 with PKCE #2 the vendor itself refuses a code of another flow", async () => {
    const [one, other] = [real.browser(), real.browser()];
    const callback = await one.consent(await one.approve());
    const stolen = await other.consent(await other.approve());
    callback.searchParams.set("code", stolen.searchParams.get("code") ?? "");
    const back = await one.finish(callback);
    expect(await real.redeem(back.searchParams.get("code"))).toMatchObject(REFUSED);
  });
});
