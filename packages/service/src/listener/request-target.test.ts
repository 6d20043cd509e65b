import { expect, it } from "vitest";
import { isPlainTarget } from "./request-target.ts";

it.each([
  "/",
  "/v1/callback?code=..%2f&state=/../x",
  "/v1/callback#/../x",
  "/.well-known/oauth-authorization-server",
  "/v1/vendors/a.b..c",
  "/v1/vendors/...",
  "/v1/vendors/%2e%2e%2e",
  "//v1/par",
])("serves %s", (target) => {
  expect(isPlainTarget(target)).toBe(true);
});

it.each([
  "/v1/../metrics",
  "/v1/./par",
  "/v1/%2e%2e/metrics",
  "/v1/.%2E/metrics",
  "/v1/%2E./metrics",
  "/v1/%2e/par",
  "/..",
  "/v1/..?q=1",
  "/v1/..#x",
  "/v1/..%2fmetrics",
  "/v1%2F..%2Fmetrics",
  "/v1/..%5cmetrics",
  "/v1\\..\\metrics",
  "/v1\\metrics",
  "/v1/%5Cmetrics",
  "http://broker.example/metrics",
  "https://127.0.0.1/v1/par",
  "broker.example:443",
  "*",
  "",
])("bar#HT-7 serves nothing at %s", (target) => {
  expect(isPlainTarget(target)).toBe(false);
});
