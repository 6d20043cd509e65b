/**
 * How each vendor refuses a code, a client and what a test plants, in its own words. What only one
 * vendor refuses is in its own tests.
 */
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { SIMULATORS } from "../testing/replay-fixture.ts";
import { flowOf } from "./testing/flow.ts";
import { CALLBACK, goThrough, OTHER_VERIFIER, postForm, type Members } from "./testing/http.ts";

/** Status and error; one that is left out is as `unknown`, or as `secret`. */
interface Refusals {
  /** A code that is not this app's. */
  readonly unknown: string;
  readonly callback?: string;
  readonly verifier?: string;
  readonly spent?: string;
  readonly expired?: string;
  readonly secret: string;
  readonly client?: string;
  readonly grantType?: string;
}

interface Row {
  readonly app?: object;
  readonly asked: Members;
  readonly refusals: Refusals;
}

const IN_BODY = { tokenEndpointAuthMethod: "client_secret_post" };
const STANDARD: Refusals = { unknown: "400 invalid_grant", secret: "401 invalid_client" };

const VENDORS: Readonly<Record<string, Row>> = {
  github: {
    asked: { scope: "repo" },
    refusals: {
      unknown: "200 bad_verification_code",
      callback: "200 redirect_uri_mismatch",
      secret: "200 incorrect_client_credentials",
      grantType: "200 unsupported_grant_type",
    },
  },
  slack: {
    asked: { scope: "chat:write" },
    refusals: {
      unknown: "200 invalid_code",
      callback: "200 bad_redirect_uri",
      spent: "200 code_already_used",
      expired: "200 code_expired",
      secret: "200 bad_client_secret",
      client: "200 invalid_client_id",
      grantType: "200 invalid_grant_type",
    },
  },
  "google-workspace": {
    asked: { scope: "openid" },
    refusals: { ...STANDARD, callback: "400 redirect_uri_mismatch" },
  },
  "microsoft-agent365": {
    asked: { scope: "openid offline_access" },
    refusals: {
      unknown: "400 9002313",
      callback: "400 500112",
      verifier: "400 501481",
      spent: "400 54005",
      expired: "400 70008",
      secret: "401 7000215",
      client: "400 700016",
      grantType: "400 70003",
    },
  },
  atlassian: {
    asked: { scope: "read:me" },
    refusals: { unknown: "403 invalid_grant", secret: "401 access_denied" },
  },
  linear: { app: IN_BODY, asked: {}, refusals: STANDARD },
  notion: { app: IN_BODY, asked: {}, refusals: STANDARD },
};

async function open(name: string) {
  const { app, asked } = VENDORS[name]!;
  const now = fixedClock(1_700_000_000);
  const { simulator: vendor, resource } = await SIMULATORS[name]!({ now });
  onTestFinished(vendor.close);
  const [clientSecret, redirectUris] = ["a secret of the app", [CALLBACK]];
  for (const clientId of ["app", "other"]) vendor.addClient({ clientId, clientSecret, redirectUris, ...app });
  const flow = flowOf(vendor.endpoints, {
    asked: { ...asked, resource },
    credentials: { client_id: "app", client_secret: clientSecret },
    send: (url, form) => postForm(url, form, { Accept: "application/json" }),
  });
  const newCode = async (query: Members = {}) => (await goThrough(flow.authorizeUrl(query)))["code"];
  const redeem = async (code: string | undefined, form: Members = {}) => {
    const { status, body } = await flow.redeem(code, form);
    const { error = "tokens", error_codes: [number = error] = [] } = body as { error?: string; error_codes?: number[] };
    return `${status} ${number}`;
  };
  return { vendor, flow, newCode, redeem, now };
}

it("every vendor with a simulator has a row", () => {
  expect(Object.keys(VENDORS).toSorted()).toEqual(Object.keys(SIMULATORS).toSorted());
});

describe.each(Object.entries(VENDORS))("%s", (name, { refusals }) => {
  const { unknown, callback = unknown, verifier = unknown, spent = unknown, expired = unknown } = refusals;
  const { secret, client = secret, grantType = "400 unsupported_grant_type" } = refusals;

  it.each<[string, Members, string]>([
    ["a made-up code", { code: "none" }, unknown],
    ["another app's code", { client_id: "other" }, unknown],
    ["another callback", { redirect_uri: `${CALLBACK}/x` }, callback],
    ["another verifier", { code_verifier: OTHER_VERIFIER }, verifier],
    ["no verifier", { code_verifier: "" }, verifier],
    ["a wrong secret", { client_secret: "wrong" }, secret],
    ["an unknown client", { client_id: "unknown" }, client],
    ["another grant type", { grant_type: "password" }, grantType],
  ])("refuses %s, and the code stays good once", async (_what, form, expected) => {
    const { newCode, redeem } = await open(name);
    const code = await newCode();
    expect(await redeem(code, form)).toBe(expected);
    expect(await redeem(code)).toBe("200 tokens");
    expect(await redeem(code)).toBe(spent);
  });

  it("lets a code expire after ten minutes", async () => {
    const { newCode, redeem, now } = await open(name);
    const code = await newCode();
    now.advance(600);
    expect(await redeem(code)).toBe(expired);
  });

  it("sends a user back who cancels before the sign-in", async () => {
    const { flow } = await open(name);
    const callback = await goThrough(flow.authorizeUrl(), { decision: "cancel-sign-in" });
    expect(callback).toMatchObject({ error: "access_denied", state: "s1" });
  });

  it("has every listed error on demand, once", async () => {
    const { vendor, flow, newCode, redeem } = await open(name);
    for (const error of vendor.errors.authorization!) {
      vendor.refuseNext("authorization", error);
      const shown = await goThrough(flow.authorizeUrl()).catch(({ cause }: { cause: object }) => cause);
      expect(JSON.stringify(shown)).toContain(error);
    }
    for (const error of vendor.errors.token!) {
      vendor.refuseNext("token", error);
      expect((await flow.refresh("any")).text).toContain(error);
    }
    expect(await redeem(await newCode())).toBe("200 tokens");
  });
});

it.each(["github", "slack", "google-workspace", "microsoft-agent365"])(
  "%s refuses a verifier for a code without challenge",
  async (name) => {
    const { refusals } = VENDORS[name]!;
    const { newCode, redeem } = await open(name);
    const code = await newCode({ code_challenge: undefined, code_challenge_method: undefined });
    expect(await redeem(code)).toBe(refusals.verifier ?? refusals.unknown);
    expect(await redeem(code, { code_verifier: undefined })).toBe("200 tokens");
  },
);
