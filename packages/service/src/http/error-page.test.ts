import { expect, it } from "vitest";
import { OAuthError } from "@oauth-broker/oauth-core";
import { errorPageWith } from "./error-page.ts";

const page = errorPageWith();

it("an unknown client is a page with 400: browsers answer a challenge by asking for a password", async () => {
  const answer = await page(new OAuthError("invalid_client", "No such client"), {});
  expect(answer.status).toBe(400);
  expect(answer.headers).not.toHaveProperty("www-authenticate");
  expect(answer.body).toContain("invalid_client");
});

it.each([
  ["client_unknown", "invalid_request", /remove it there and add it again/],
  [undefined, "invalid_redirect_uri", /remove it there and add it again/],
  ["client_host_not_listed", "invalid_client", /Ask the people who run this server/],
  ["foreign_form", "invalid_request", /Another website sent this form/],
  ["foreign_host", "invalid_request", /tell the people who run this server/],
  ["foreign_origin", "invalid_request", /tell the people who run this server/],
  [undefined, "slow_down", /Wait a minute, then reload/],
] as const)(
  "%s %s: the page does not send the user in a circle, with a way back or without",
  async (reason, code, advice) => {
    const error = new OAuthError(code, "It is so", reason === undefined ? {} : { reason });
    const alone = (await page(error, {})).body ?? "";
    expect(alone).toMatch(advice);
    expect(alone).not.toContain("start again from the application that sent you here");
    const withLink = errorPageWith(async () => ({ href: "https://app.example/", label: "Back" }));
    expect((await withLink(error, {})).body).toMatch(advice);
  },
);

it.each(["issuer_mismatch", "missing_issuer", "malformed_response", "path_mismatch", "context_mismatch"])(
  "%s: starting again may lead here again, and the page says who to tell",
  async (reason) => {
    const { body } = await page(new OAuthError("invalid_request", "It is so", { reason }), {});
    expect(body).toContain("start again from the application");
    expect(body).toContain("If this page comes back");
  },
);

it("an outage says when to retry, and a wrong method which methods there are", async () => {
  const outage = await page(new OAuthError("temporarily_unavailable", "Down", { retryAfterSeconds: 7 }), {});
  expect([outage.status, outage.headers["retry-after"]]).toEqual([503, "7"]);
  expect(outage.body).toContain("reload this page");
  const method = await page(new OAuthError("method_not_allowed", "No", { allow: "GET" }), {});
  expect([method.status, method.headers["allow"]]).toEqual([405, "GET"]);
});
