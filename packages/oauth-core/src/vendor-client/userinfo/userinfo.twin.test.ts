/**
 * The twins of userinfo.test.ts and identify.test.ts: with one defence of userinfo off, another
 * user's account is accepted.
 */
import type * as oauth from "oauth4webapi";
import { afterEach, expect, it, vi } from "vitest";
import { ACCESS_TOKEN } from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../../testing/network/vendor-lab.ts";
import type * as answer from "../answer.ts";

const off = vi.hoisted(() => new Set<string>());

vi.mock("oauth4webapi", async (original) => {
  const known = await original<typeof oauth>();
  const uncompared: typeof known.processUserInfoResponse = (server, client, _subject, response) =>
    known.processUserInfoResponse(server, client, known.skipSubjectCheck, response);
  return {
    ...known,
    processUserInfoResponse: (...args: Parameters<typeof uncompared>) =>
      (off.has("subject") ? uncompared : known.processUserInfoResponse)(...args),
  };
});
vi.mock("../answer.ts", async (original) => {
  const known = await original<typeof answer>();
  const claimsUnchecked: typeof known.readObject = async (response) =>
    JSON.parse(Buffer.from((await response.text()).split(".")[1] ?? "", "base64url").toString()) as never;
  return {
    ...known,
    readObject: (...args: Parameters<typeof claimsUnchecked>) =>
      (off.has("json") ? claimsUnchecked : known.readObject)(...args),
  };
});

const lab = labOfEachTest();
afterEach(() => off.clear());

it("only the access token decides the user, where subjects are not compared (twin of bar#UI-1)", async () => {
  const entry = { identity: "unknown", userinfoEndpoint: `${lab.vendor.issuer}/me` } as const;
  const tokens = await lab.redeem({ entry });
  lab.vendor.answers.set("/me", { body: { sub: "another-person" } });
  off.add("subject");
  expect(await lab.client.identify(await lab.resolve(entry), tokens)).toBe("another-person");
});

it("an unsigned JWT says whose account it is, where JWTs are read (twin of bar#UI-2)", async () => {
  const vendor = await lab.resolve({ userinfoEndpoint: `${lab.vendor.issuer}/me` });
  const parts = [{ alg: "none" }, { sub: "another-person", aud: "another-client" }];
  const body = `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`;
  lab.vendor.answers.set("/me", { headers: { "content-type": "application/jwt" }, body });
  off.add("json");
  expect(await lab.client.account(vendor, ACCESS_TOKEN)).toMatchObject({ sub: "another-person" });
});
