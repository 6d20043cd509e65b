/** The twin of judge-token.test.ts: without the pin, another app's token for the same person is good here. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ACCESS_TOKEN, SUBJECT } from "../../testing/faulty-vendor.ts";
import { type Lab, openLab } from "../../testing/vendor-lab.ts";

vi.mock("./issued-to.ts", () => ({ isIssuedTo: () => true }));

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.close());

it("a token of another client is good where nobody compares clients", async () => {
  const body = { active: true, token_type: "Bearer", client_id: "another-app", sub: SUBJECT };
  lab.vendor.answers.set("/judge", { body });
  const vendor = await lab.resolve({ introspectionEndpoint: `${lab.vendor.issuer}/judge` });
  const verdict = await lab.client.judgeToken(vendor, ACCESS_TOKEN, lab.vendor.credentials);
  expect(verdict).toMatchObject({ active: true, user: SUBJECT, clientId: "another-app" });
});

it("a token of which the vendor names no client is good where clients are not compared", async () => {
  const body = { active: true, token_type: "Bearer", sub: SUBJECT };
  lab.vendor.answers.set("/judge", { body });
  const vendor = await lab.resolve({ introspectionEndpoint: `${lab.vendor.issuer}/judge` });
  const verdict = await lab.client.judgeToken(vendor, ACCESS_TOKEN, lab.vendor.credentials);
  expect(verdict).toEqual({ active: true, user: SUBJECT });
});
