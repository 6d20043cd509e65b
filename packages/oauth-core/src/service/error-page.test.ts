import { expect, it } from "vitest";
import { OAuthError } from "../protocol/errors.ts";
import { errorPageWith } from "./error-page.ts";

const page = errorPageWith();

it("an unknown client is a page with 400: browsers answer a challenge by asking for a password", async () => {
  const answer = await page(new OAuthError("invalid_client", "No such client"), {});
  expect(answer.status).toBe(400);
  expect(answer.headers).not.toHaveProperty("www-authenticate");
  expect(answer.body).toContain("invalid_client");
});

it("an outage says when to retry, and a wrong method which methods there are", async () => {
  const outage = await page(new OAuthError("temporarily_unavailable", "Down", { retryAfterSeconds: 7 }), {});
  expect([outage.status, outage.headers["retry-after"]]).toEqual([503, "7"]);
  expect(outage.body).toContain("reload this page");
  const method = await page(new OAuthError("method_not_allowed", "No", { allow: "GET" }), {});
  expect([method.status, method.headers["allow"]]).toEqual([405, "GET"]);
});
