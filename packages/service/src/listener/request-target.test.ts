import { expect, it } from "vitest";
import { isPlainTarget, namesOneHost } from "./request-target.ts";

it.each([
  "/",
  "/v1/callback?code=..%2f&state=/../x",
  "/v1/callback#/../x",
  "/.well-known/oauth-authorization-server",
  "/v1/vendors/a.b..c",
  "/v1/vendors/...",
  "/v1/vendors/a%20b%2Fc%C3%A9",
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
  "/%6detrics",
  "/%6Detrics",
  "/metric%73",
  "/v%31/par",
  "/v1/%50ar",
  "/v1/vendors/%2e%2e%2e",
  "/%2Ewell-known/oauth-authorization-server",
  "/.well%2Dknown/oauth-authorization-server",
  "/v1/%7e",
  "/v1/%5F",
  "http://broker.example/metrics",
  "https://127.0.0.1/v1/par",
  "broker.example:443",
  "*",
  "",
])("bar#HT-7 serves nothing at %s", (target) => {
  expect(isPlainTarget(target)).toBe(false);
});

it.each([
  [true, "1.1", ["Host", "a.example"]],
  [true, "1.1", ["accept", "host", "HOST", "a.example"]],
  [true, "1.0", []],
  [false, "1.1", []],
  [false, "1.1", ["accept", "host"]],
  [false, "1.1", ["Host", "a.example", "host", "b.example"]],
  [false, "1.1", ["Host", "a.example", "Host", "a.example"]],
  [false, "1.0", ["Host", "a.example", "hOST", "b.example"]],
])("rfc9112#3.2 serves a request that names one host: %s for HTTP/%s %j", (isServed, httpVersion, rawHeaders) => {
  expect(namesOneHost({ httpVersion, rawHeaders })).toBe(isServed);
});
