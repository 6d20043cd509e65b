/** Which requests count together, for which client, and what a request beyond the limit answers. */
import { describe, expect, it } from "vitest";
import { flowKey } from "./flows/flow-record.ts";
import { CLIENT_SECRET, ISSUER, testBroker } from "./testing/test-broker.ts";
import { registeringBroker } from "./testing/registering-broker.ts";

const EXPLAIN = { vendor: "acme" };
const JUNK = { grant_type: "refresh_token", vendor: "acme", refresh_token: "junk" };
const CODE = { grant_type: "authorization_code", code: "junk" };
const REVOKE = { token: "junk", vendor: "acme" };

const slowDown = (answer: { response: Response; body: Record<string, unknown> }): void => {
  expect([answer.response.status, answer.body["error"]]).toEqual([429, "slow_down"]);
  expect(Number(answer.response.headers.get("retry-after"))).toBeGreaterThan(0);
};

describe("bar#ST-8 what one client may do in a minute", () => {
  it("limits pushed requests of one client and not of the other", async () => {
    const { push, post } = await testBroker({ limits: { parPerMinute: 2 } });
    await push();
    await push();
    slowDown(await push());
    expect((await post("/v1/par", { client_id: "other" }, "other")).response.status).toBe(400);
  });

  it("limits explain requests, to sixty when nothing else is configured", async () => {
    const { post, push } = await testBroker();
    for (let at = 0; at < 60; at += 1) expect((await post("/v1/explain", EXPLAIN)).response.status).toBe(200);
    slowDown(await post("/v1/explain", EXPLAIN));
    expect((await post("/v1/explain", EXPLAIN, "other")).response.status).toBe(200);
    expect((await push()).response.status).toBe(201);
    expect((await post("/v1/token", JUNK)).response.status).toBe(200);
  });

  it("counts token, revoke and register together with any outcome; beyond, no vendor call", async () => {
    const { post, push, register, asked } = await registeringBroker({ limits: { vendorCallsPerMinute: 3 } });
    expect((await post("/v1/token", CODE)).response.status).toBe(400);
    expect((await post("/v1/revoke", REVOKE)).response.status).toBe(400);
    expect((await register()).status).toBe(201);
    const before = asked.length;
    slowDown(await post("/v1/token", JUNK));
    slowDown(await post("/v1/token", CODE));
    slowDown(await post("/v1/revoke", REVOKE));
    expect((await register()).status).toBe(429);
    expect(asked).toHaveLength(before);
    expect((await push()).response.status).toBe(201);
    expect((await post("/v1/explain", EXPLAIN)).response.status).toBe(200);
    expect((await post("/v1/token", CODE, "other")).response.status).toBe(400);
  });

  it("costs no code: one that came too often is still parked", async () => {
    const { park, post, redeem, deps, seen } = await testBroker({ limits: { vendorCallsPerMinute: 1 } });
    const code = await park();
    await post("/v1/revoke", REVOKE);
    slowDown(await redeem(code));
    expect((await deps.records.get(flowKey(code.split(".")[0] ?? "")))?.stage).toBe("parked");
    expect(seen).toEqual([]);
  });

  it("is without limit at 0", async () => {
    const { post } = await testBroker({ limits: { explainPerMinute: 0, vendorCallsPerMinute: 0 } });
    for (let at = 0; at < 61; at += 1) expect((await post("/v1/explain", EXPLAIN)).response.status).toBe(200);
    for (let at = 0; at < 61; at += 1) expect((await post("/v1/revoke", REVOKE)).response.status).toBe(400);
  });
});

describe("bar#ST-8 a client's minute is its own", () => {
  it("however often another sends its id with a wrong secret", async () => {
    const { app, post } = await testBroker({
      limits: { explainPerMinute: 1, vendorCallsPerMinute: 1, parPerMinute: 1 },
    });
    const send = async (path: string, secret: string): Promise<number> => {
      const form = new URLSearchParams({ client_id: "platform", client_secret: secret, vendor: "acme" });
      return (await app.request(`${ISSUER}${path}`, { method: "POST", body: form })).status;
    };
    for (const path of ["/v1/par", "/v1/token", "/v1/revoke", "/v1/check", "/v1/explain"]) {
      for (let at = 0; at < 5; at += 1) expect(await send(path, "w".repeat(43))).toBe(401);
    }
    expect(await send("/v1/explain", CLIENT_SECRET)).toBe(200);
    expect((await post("/v1/token", CODE)).body["error"]).toBe("invalid_grant");
    expect((await post("/v1/par", {})).body["error"]).toBe("invalid_request");
  });

  it("in the sandbox too, where a caller may register without authentication", async () => {
    const { register, post } = await registeringBroker({
      config: { sandbox: true },
      limits: { vendorCallsPerMinute: 2 },
    });
    expect([(await register(undefined, {})).status, (await register(undefined, {})).status]).toEqual([201, 201]);
    expect((await register(undefined, {})).status).toBe(429);
    expect((await register()).status).toBe(201);
    expect((await post("/v1/token", CODE)).body["error"]).toBe("invalid_grant");
  });
});
