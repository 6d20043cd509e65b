import { type Clock, type RecordStore, systemClock } from "@oauth-broker/oauth-core";
import { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
import { startFakeVendor, type FakeVendorServer } from "@oauth-broker/simulators";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type HostedFixture,
  openHostedFixture,
  type OpenIdFixture,
  openOpenIdFixture,
} from "../../testing/hosted-fixture.ts";
import { RECORD_STORES } from "../../testing/record-stores.ts";
import { linkKey } from "../links/link.ts";

const stubVendor = ({ authorizationEndpoint, tokenEndpoint, revocationEndpoint }: FakeVendorServer): Vendor =>
  defineVendor({ id: "stub", name: "Stub", authorizationEndpoint, tokenEndpoint, revocationEndpoint });
const openStubFixture = (records?: (now: Clock) => RecordStore): HostedFixture =>
  openHostedFixture({
    vendor: stubVendor(stub),
    scopes: ["read"],
    vendorClient: (real) => ({ ...real, identify: async () => "user" }),
    ...(records === undefined ? {} : { records }),
  });

/** A vendor that accepts every code any number of times. */
let stub: FakeVendorServer;
let fixture: HostedFixture;
beforeAll(async () => {
  stub = await startFakeVendor({ codes: "any" });
  fixture = openStubFixture();
});
afterAll(async () => {
  await fixture.close();
  await stub.close();
});

const refusal = { status: 400, body: { error: "invalid_grant" } };

describe("bar#AS-4 a code is valid once", () => {
  it.each([1, 31])("rfc6749#4.1.2 and its second use, %i s later, ends what the first gave", async (seconds) => {
    const code = `code-${seconds}`;
    const { body } = await fixture.token({ code });
    expect(await fixture.authenticate(body["access_token"] ?? "")).toMatchObject({ user: "user" });
    fixture.clock.advance(seconds);
    expect(await fixture.token({ code })).toMatchObject(refusal);
    expect(await fixture.authenticate(body["access_token"] ?? "")).toBeUndefined();
    expect(await fixture.refresh(body["refresh_token"])).toMatchObject(refusal);
  });

  it("of 10 at the same time one gets tokens, and the vendor is asked once", async () => {
    const before = stub.requests("/token");
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.token({ code: "raced" })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body["error"] === "invalid_grant")).toHaveLength(9);
    expect(stub.requests("/token") - before).toBe(1);
  });

  it.each(["sqlite", "dynamodb"])("also of 8 over two processes on one store: %s", async (kind) => {
    const stores = await RECORD_STORES[kind]?.();
    if (stores === undefined) throw new Error("no such store");
    const first = await stores.fresh(systemClock);
    const processes = [openStubFixture(() => first), openStubFixture((now) => stores.again(now))];
    try {
      const tries = Array.from({ length: 8 }, async (_, index) => processes[index % 2]?.token({ code: "c" }));
      const answers = await Promise.all(tries);
      expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(1);
      expect(answers.filter((answer) => answer?.status === 400)).toHaveLength(7);
      const { access_token: token = "", refresh_token: refreshToken = "" } =
        answers.find((answer) => answer?.status === 200)?.body ?? {};
      expect(await processes[1]?.token({ code: "c" })).toMatchObject(refusal);
      expect(await processes[0]?.authenticate(token)).toBeUndefined();
      expect(await processes[1]?.refresh(refreshToken)).toMatchObject(refusal);
    } finally {
      await Promise.all(processes.map((one) => one.close()));
      await stores.close();
    }
  });

  it("but a replay without the verifier, client or redirect URI ends nothing", async () => {
    const code = "replayed";
    const { body } = await fixture.token({ code });
    // The stub does not check verifiers, so it accepts this as a code of its own; a real vendor
    // refuses it.
    await fixture.token({ code, code_verifier: "w".repeat(43) });
    await fixture.token({ code, client_id: "another" });
    await fixture.token({ code, redirect_uri: "https://platform.example/other" });
    await fixture.token({ code, code_verifier: undefined });
    await fixture.token({ code, resource: "https://other.example" });
    expect(await fixture.authenticate(body["access_token"] ?? "")).toMatchObject({ user: "user" });
  });
});

describe("outages around a code", () => {
  let real: OpenIdFixture;
  beforeAll(async () => {
    real = await openOpenIdFixture();
  });
  afterAll(() => real.close());
  beforeEach(() => real.down.clear());

  it.each([
    ["cuts the connection", { kind: "drop" }],
    ["says that it cannot", { kind: "answer", status: 503 }],
  ] as const)(
    "bar#VR-5 while the vendor %s the answer is 503, and the same code works afterwards",
    async (_what, fault) => {
      const { code } = await real.consent();
      real.provider.faults.next("/token", fault);
      const answer = await real.token({ code });
      expect([answer.status, answer.body["error"], answer.body["retry"]]).toEqual([
        503,
        "temporarily_unavailable",
        undefined,
      ]);
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      expect((await real.token({ code })).status).toBe(200);
    },
  );

  it("without the records nothing is sent to the vendor, and the same code works afterwards", async () => {
    await real.connect();
    const { code } = await real.consent();
    const asked = real.provider.requests().length;
    real.down.add("records");
    const answer = await real.token({ code });
    expect([answer.status, answer.body["retry"]]).toEqual([503, undefined]);
    expect(real.provider.requests()).toHaveLength(asked);
    real.down.clear();
    expect((await real.token({ code })).status).toBe(200);
  });

  it("tokens that cannot be kept are ended at the vendor, and the flow begins again", async () => {
    const { code } = await real.consent();
    real.down.add("tokens");
    const answer = await real.token({ code });
    expect([answer.status, answer.body["retry"]]).toEqual([503, "restart"]);
    await vi.waitFor(() =>
      expect(real.provider.requests().at(-1)).toMatchObject({ path: "/token/revocation", status: 200 }),
    );
    real.down.clear();
    expect(await real.token({ code })).toMatchObject(refusal);
  });

  it("tokens of a vendor that does not identify the user are revoked", async () => {
    await using mute = await openOpenIdFixture({ entry: { identity: { from: "id_token", members: ["oid"] } } });
    const answer = await mute.connect();
    expect([answer.status, answer.body["error"]]).toEqual([502, "vendor_response_invalid"]);
    await vi.waitFor(() => expect(mute.provider.requests().at(-1)).toMatchObject({ path: "/token/revocation" }));
    expect(await mute.tokens.get(linkKey("user", mute))).toBeUndefined();
  });
});
