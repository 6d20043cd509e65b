/**
 * Attacker: writes the store of the broker and lacks its keys. Without the MAC a flow is what the
 * attacker makes of it: table-writer.twin.test.ts.
 */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { flowIdOf } from "../testing/test-broker.ts";
import { writtenStore } from "../testing/written-store.ts";

const challengeOf = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url");

it("bar#TS-3 a flow that was made to need no cookie is no flow", async () => {
  const { broker, write } = await writtenStore();
  const { state, cookie } = await broker.start();
  write(flowIdOf(cookie), { binding: "platform" });
  const back = await broker.callback({ state, code: "of the victim" });
  expect([back.response.status, back.location]).toEqual([400, undefined]);
  expect(broker.seen).toEqual([]);
  expect(broker.lines.join("")).toMatch(/"event":"record_refused".*"reason":"flow"/);
});

it("bar#TS-3 a pushed request that no client has pushed is no request", async () => {
  const { broker, forge } = await writtenStore();
  const pushed = await broker.push();
  const handle = "attackers-handle";
  const forged = "A".repeat(22);
  forge(flowIdOf(pushed.body["request_uri"]), forged, {
    requestHash: challengeOf(handle),
    scope: "all of it",
  });
  const requestUri = `urn:ietf:params:oauth:request_uri:${forged}.${handle}`;
  const { response, location } = await broker.get(broker.authorizePath(requestUri));
  expect([response.status, location]).toEqual([400, undefined]);
});

it("bar#TS-3 a parked code whose challenge was replaced is redeemed by nobody", async () => {
  const { broker, write } = await writtenStore();
  const code = await broker.park();
  const verifier = "a".repeat(43);
  write(/^(.+)\.[^.]*$/.exec(code)?.[1] ?? "", { codeChallenge: challengeOf(verifier) });
  const stolen = await broker.redeem(code, { code_verifier: verifier });
  expect([stolen.response.status, stolen.body["error"]]).toEqual([400, "invalid_grant"]);
  expect(broker.seen).toEqual([]);
});

it("bar#TS-3 a rotation of the keys ends no flow that is under way", async () => {
  const { broker } = await writtenStore();
  const started = await broker.start();
  await broker.deps.keyset.rotate();
  broker.now.advance(61);
  expect((await broker.redeem(await broker.land(started))).response.status).toBe(200);
});
