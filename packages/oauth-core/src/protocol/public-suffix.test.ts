import { expect, it } from "vitest";
import { isPublicSuffix } from "./public-suffix.ts";

it.each([
  "",
  "com",
  "uk",
  "app",
  "co.uk",
  "com.au",
  "org.br",
  "uk.com",
  "us.org",
  "github.io",
  "workers.dev",
  "cloudfront.net",
])("anyone can register below %j", (suffix) => {
  expect(isPublicSuffix(suffix)).toBe(true);
});

it.each(["okta.com", "zendesk.com", "wiz.io", "example.co.uk", "a.github.io", "xco.uk", "co.ukx", "a.uk.com"])(
  "only its owner names hosts below %s",
  (suffix) => {
    expect(isPublicSuffix(suffix)).toBe(false);
  },
);
