/**
 * The twin of validate.test.ts: without the comparison of clients, another app's token for the same
 * user is good here.
 */
import { beforeEach, expect, it } from "vitest";
import { ACCESS_TOKEN, SUBJECT } from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../../testing/network/vendor-lab.ts";
import { weaken } from "../../testing/weaken.ts";
import * as introspection from "./introspect.ts";

beforeEach(() => weaken(introspection, () => ({ isIssuedTo: () => true })));

const lab = labOfEachTest();

it("a token of another client is good where clients are not compared", async () => {
  const body = { active: true, token_type: "Bearer", client_id: "another-app", sub: SUBJECT };
  lab.vendor.answers.set("/token-info", { body });
  const vendor = await lab.resolve({ introspectionEndpoint: `${lab.vendor.issuer}/token-info` });
  const validation = await lab.client.validateAccessToken(vendor, ACCESS_TOKEN, lab.vendor.credentials);
  expect(validation).toMatchObject({ active: true, user: SUBJECT, clientId: "another-app" });
});

it("a token of which the vendor names no client is good where clients are not compared", async () => {
  const body = { active: true, token_type: "Bearer", sub: SUBJECT };
  lab.vendor.answers.set("/token-info", { body });
  const vendor = await lab.resolve({ introspectionEndpoint: `${lab.vendor.issuer}/token-info` });
  const validation = await lab.client.validateAccessToken(vendor, ACCESS_TOKEN, lab.vendor.credentials);
  expect(validation).toEqual({ active: true, user: SUBJECT });
});
