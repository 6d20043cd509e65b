/**
 * The twins of userinfo.test.ts and identify.test.ts: with one defence of userinfo off, another
 * user's account is accepted.
 */
import * as oauth from "oauth4webapi";
import { expect, it } from "vitest";
import { ACCESS_TOKEN } from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../../testing/network/vendor-lab.ts";
import { weaken } from "../../testing/weaken.ts";
import * as answer from "../answer.ts";

const lab = labOfEachTest();

it("only the access token decides the user, where subjects are not compared (twin of bar#UI-1)", async () => {
  const entry = { identity: "unknown", userinfoEndpoint: `${lab.vendor.issuer}/me` } as const;
  const tokens = await lab.redeem({ entry });
  lab.vendor.answers.set("/me", { body: { sub: "another-person" } });
  weaken(oauth, ({ processUserInfoResponse, skipSubjectCheck }) => ({
    processUserInfoResponse: (server, client, _subject, response) =>
      processUserInfoResponse(server, client, skipSubjectCheck, response),
  }));
  expect(await lab.client.identify(await lab.resolve(entry), tokens)).toBe("another-person");
});

it("an unsigned JWT says whose account it is, where JWTs are read (twin of bar#UI-2)", async () => {
  const vendor = await lab.resolve({ userinfoEndpoint: `${lab.vendor.issuer}/me` });
  const parts = [{ alg: "none" }, { sub: "another-person", aud: "another-client" }];
  const body = `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`;
  lab.vendor.answers.set("/me", { headers: { "content-type": "application/jwt" }, body });
  weaken(answer, () => ({
    readObject: async (response) =>
      JSON.parse(Buffer.from((await response.text()).split(".")[1] ?? "", "base64url").toString()) as never,
  }));
  expect(await lab.client.account(vendor, ACCESS_TOKEN)).toMatchObject({ sub: "another-person" });
});
