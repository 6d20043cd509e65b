/** A vendor without refresh tokens, as it reaches a client of the broker, and the operator's log. */
import { describe, expect, it } from "vitest";
import { testBroker, type TestBrokerOptions } from "../testing/test-broker.ts";

const VENDOR: NonNullable<TestBrokerOptions["vendor"]> = {
  refreshEndpoint: "https://acme.example/renew",
  longLivedToken: {
    endpoint: "https://acme.example/long",
    exchange: { grant_type: "acme_exchange_token", client_secret: "{client_secret}", access_token: "{token}" },
    renewal: { grant_type: "acme_refresh_token", access_token: "{token}" },
  },
};

const SHORT = { access_token: "short-1", token_type: "bearer", expires_in: 3600 };
const ANSWERS = {
  "/token": SHORT,
  "/long": { access_token: "long-1", token_type: "bearer", expires_in: 5_184_000 },
  "/renew": { access_token: "long-2", token_type: "bearer", expires_in: 5_184_000 },
};

/** @param answers by path; 500 for any other */
const opened = (answers: Readonly<Record<string, object | number>>, more: TestBrokerOptions = {}) =>
  testBroker({
    ...more,
    vendor: VENDOR,
    vendorAnswers: async (input) => {
      const answer = answers[new URL(String(input)).pathname] ?? 500;
      return typeof answer === "number" ? new Response(null, { status: answer }) : Response.json(answer);
    },
  });

describe("a long-lived token", () => {
  it("comes with the code, and is what renews it until a day that is said", async () => {
    const broker = await opened(ANSWERS);
    const { body, connection } = await broker.connect();
    const lives = { expires_in: 5_184_000, refresh_token_expires_in: 5_184_000 };
    expect(body).toMatchObject({ access_token: "long-1", refresh_token: "long-1", ...lives, vendor_data: {} });
    const refreshed = await broker.refresh({ refresh_token: "long-1", connection });
    expect(refreshed.body).toMatchObject({ access_token: "long-2", refresh_token: "long-2", ...lives });
  });

  it("is renewed by a sealed refresh token alone, which does not show it", async () => {
    const broker = await opened(ANSWERS, { client: { refreshTokens: "sealed" } });
    const { body } = await broker.connect();
    expect(String(body["refresh_token"])).not.toContain("long-1");
    const refreshed = await broker.refresh({ refresh_token: String(body["refresh_token"]) });
    expect(refreshed.body["access_token"]).toBe("long-2");
    expect(new URL(broker.seen.at(-1)?.url ?? "").searchParams.get("access_token")).toBe("long-1");
  });

  it("bar#VR-5 that was not given costs the user nothing, and the operator sees why", async () => {
    const broker = await opened({ ...ANSWERS, "/long": 503 });
    const { response, body } = await broker.connect();
    expect([response.status, body["access_token"], body["refresh_token"]]).toEqual([200, "short-1", "short-1"]);
    expect(body["vendor_data"]).toEqual({ long_lived_token_error: "temporarily_unavailable" });
    expect(broker.lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ event: "vendor_token_short_lived", level: "warn", vendor: "acme" }),
    );
  });

  it("bar#EG-9 and the secret, which are in the addresses, are in no line of the log", async () => {
    const broker = await opened({ "/token": SHORT, "/long": 400, "/renew": 400 });
    const { connection } = await broker.connect();
    const refused = await broker.refresh({ refresh_token: "short-1", connection });
    const log = broker.lines.join("") + JSON.stringify(refused.body);
    for (const shown of ["short-1", "acme_exchange_token", "acme_refresh_token", "client_secret="])
      expect(log).not.toContain(shown);
  });
});
