/**
 * What every flow of the engine must do, regardless of the app's policy: run by the broker and by a
 * deployed server against their own routes. The vendor's issuer is VENDOR_ISSUER, and it accepts
 * every code.
 */
import { describe, expect, it } from "vitest";

export const VENDOR_ISSUER = "https://vendor.example";

export interface BrokeredCodeFixture {
  /**
   * A user starts a flow.
   *
   * @param vendor the URL the browser was sent to; `cookie` is the cookie it then holds
   */
  start(): Promise<{ readonly vendor: URL; readonly cookie: string }>;
  /** The vendor's redirect reaches the callback. */
  callback(parameters: Readonly<Record<string, string>>, cookie?: string): Promise<CallbackAnswer>;
  /**
   * The client redeems its code.
   *
   * @param changes to the valid request
   */
  redeem(code: string, changes?: Readonly<Record<string, string>>): Promise<RedeemAnswer>;
  /** Another client of the app redeems it. */
  redeemAsOther(code: string): Promise<RedeemAnswer>;
  /** Token requests the vendor has received. */
  vendorCalls(): number;
  advance(seconds: number): void;
  /** Properties of the app's policy. */
  readonly burnsOnWrongVerifier: boolean;
  close(): Promise<void>;
}

interface CallbackAnswer {
  readonly status: number;
  readonly location: URL | undefined;
}

interface RedeemAnswer {
  readonly status: number;
  readonly error: unknown;
}

const PAGE = { status: 400, location: undefined };
const REFUSED = { status: 400, error: "invalid_grant" };

export function describeBrokeredCode(name: string, open: () => Promise<BrokeredCodeFixture>): void {
  const using = (test: (fixture: BrokeredCodeFixture) => Promise<void>) => async (): Promise<void> => {
    const fixture = await open();
    try {
      await test(fixture);
    } finally {
      await fixture.close();
    }
  };
  const stateOf = (vendor: URL): string => vendor.searchParams.get("state") ?? "";
  const park = async (fixture: BrokeredCodeFixture): Promise<string> => {
    const { vendor, cookie } = await fixture.start();
    const { location } = await fixture.callback({ code: "vendor-code", state: stateOf(vendor) }, cookie);
    return location?.searchParams.get("code") ?? expect.fail("no code");
  };

  describe(`the brokered code of ${name}: the answer of the vendor`, () => {
    it(
      "becomes a code of ours, and the vendor is not asked before the client brings it",
      using(async (fixture) => {
        const code = await park(fixture);
        expect(fixture.vendorCalls()).toBe(0);
        expect((await fixture.redeem(code)).status).toBe(200);
        expect(fixture.vendorCalls()).toBe(1);
      }),
    );

    it(
      "bar#CB-1 bar#CB-7 without state, with another's, or in another browser is a page, and the flow goes on",
      using(async (fixture) => {
        const { vendor, cookie } = await fixture.start();
        const state = stateOf(vendor);
        const other = await fixture.start();
        const changed = state.slice(0, -1) + (state.endsWith("A") ? "B" : "A");
        for (const [parameters, browser] of [
          [{ code: "c" }, cookie],
          [{ code: "c", state: "" }, cookie],
          [{ code: "c", state: changed }, cookie],
          [{ code: "c", state: state.slice(0, -1) }, cookie],
          [{ code: "c", state }, undefined],
          [{ code: "c", state }, other.cookie],
          [{ code: "c", state: stateOf(other.vendor) }, cookie],
        ] as const) {
          expect(await fixture.callback(parameters, browser)).toEqual(PAGE);
        }
        expect((await fixture.callback({ code: "c", state }, cookie)).location?.searchParams.has("code")).toBe(true);
      }),
    );

    it.each([
      ["both", { code: "c", error: "access_denied" }],
      ["an access token", { code: "c", access_token: "smuggled" }],
      ["an ID token", { code: "c", id_token: "smuggled" }],
      ["a code without end", { code: "c".repeat(4097) }],
      ["another iss", { code: "c", iss: "https://evil.example" }],
      ["an iss with a slash more", { code: "c", iss: `${VENDOR_ISSUER}/` }],
      ["an empty iss", { code: "c", iss: "" }],
    ])("bar#CB-11 bar#CB-16 with %s is a page, and ends the flow", async (_what, sent) =>
      using(async (fixture) => {
        const { vendor, cookie } = await fixture.start();
        const state = stateOf(vendor);
        expect(await fixture.callback({ ...(sent as Record<string, string>), state }, cookie)).toEqual(PAGE);
        expect(await fixture.callback({ code: "c", iss: VENDOR_ISSUER, state }, cookie)).toEqual(PAGE);
        expect(fixture.vendorCalls()).toBe(0);
      })(),
    );

    it(
      "bar#CB-3 counts once: of twenty at the same time one leads to the client",
      using(async (fixture) => {
        const { vendor, cookie } = await fixture.start();
        const answer = { code: "c", state: stateOf(vendor) };
        const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.callback(answer, cookie)));
        expect(answers.filter(({ location }) => location !== undefined)).toHaveLength(1);
        expect(await fixture.callback(answer, cookie)).toEqual(PAGE);
      }),
    );

    it(
      "that is an error goes to the client in our words, with iss, and ends the flow",
      using(async (fixture) => {
        const { vendor, cookie } = await fixture.start();
        const state = stateOf(vendor);
        const error = { error: "access_denied", error_description: "canary", state };
        const { location } = await fixture.callback(error, cookie);
        expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject({ error: "access_denied" });
        expect([location?.searchParams.has("iss"), location?.href.includes("canary")]).toEqual([true, false]);
        expect(await fixture.callback({ code: "c", state }, cookie)).toEqual(PAGE);
      }),
    );

    it(
      "after ten minutes comes too late",
      using(async (fixture) => {
        const { vendor, cookie } = await fixture.start();
        fixture.advance(600);
        expect(await fixture.callback({ code: "c", state: stateOf(vendor) }, cookie)).toEqual(PAGE);
      }),
    );
  });

  describe(`the brokered code of ${name}: our code`, () => {
    it(
      "bar#AS-4 bar#XA-8 is good once: of twenty requests at the same time one has tokens, and the vendor is asked once",
      using(async (fixture) => {
        const code = await park(fixture);
        const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.redeem(code)));
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(answers.filter(({ error }) => error === "invalid_grant")).toHaveLength(19);
        expect(fixture.vendorCalls()).toBe(1);
        expect(await fixture.redeem(code)).toEqual(REFUSED);
      }),
    );

    it(
      "bar#XA-8 rfc6749#4.1.3 with another client, redirect URI or a malformed verifier stays usable",
      using(async (fixture) => {
        const code = await park(fixture);
        expect(await fixture.redeemAsOther(code)).toEqual(REFUSED);
        expect(await fixture.redeem(code, { redirect_uri: "https://evil.example/" })).toEqual(REFUSED);
        expect((await fixture.redeem(code, { code_verifier: "short" })).status).toBe(400);
        expect(await fixture.redeem(`${code.slice(0, -1)}${code.endsWith("A") ? "B" : "A"}`)).toEqual(REFUSED);
        expect(fixture.vendorCalls()).toBe(0);
        expect((await fixture.redeem(code)).status).toBe(200);
      }),
    );

    it(
      "bar#AS-3 bar#XA-7 with a wrong verifier is refused, and ended where the app's clients are confidential",
      using(async (fixture) => {
        const code = await park(fixture);
        expect(await fixture.redeem(code, { code_verifier: "w".repeat(43) })).toEqual(REFUSED);
        expect(fixture.vendorCalls()).toBe(0);
        expect((await fixture.redeem(code)).status).toBe(fixture.burnsOnWrongVerifier ? 400 : 200);
      }),
    );

    it(
      "bar#AS-5 lives a minute",
      using(async (fixture) => {
        const [young, old] = [await park(fixture), await park(fixture)];
        fixture.advance(59);
        expect((await fixture.redeem(young)).status).toBe(200);
        fixture.advance(1);
        expect(await fixture.redeem(old)).toEqual(REFUSED);
      }),
    );
  });
}
