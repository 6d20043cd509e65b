/**
 * The attacks of ingress.test.ts without the check: they reach the server, so the check is what stops
 * them.
 */
import { weaken } from "@oauth-broker/oauth-core/testing";
import { afterEach, expect, it } from "vitest";
import { sendRaw, startIngress, type TestIngress } from "../testing/test-ingress.ts";
import * as check from "./authenticate.ts";

let ingress: TestIngress;
afterEach(() => ingress.close());

it("bar#RS-7 without the check a request with a foreign Host and no token reaches the server", async () => {
  weaken(check, () => ({ refusalOf: () => undefined }));
  const seen: (string | undefined)[] = [];
  ingress = await startIngress((request, response) => {
    seen.push(request.headers.host, request.headers.authorization);
    response.end();
  });
  const { status } = await sendRaw(ingress.url, { path: "/mcp", headers: { host: "evil.example" } });
  expect([status, ...seen]).toEqual([200, new URL(ingress.url).host, undefined]);
});
