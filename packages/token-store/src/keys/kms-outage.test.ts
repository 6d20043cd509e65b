import { PATIENT } from "../testing/aws/deadline.ts";
import { soonerThan } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type KmsFault, type KmsServer, startKms } from "@oauth-broker/simulators/aws";
import { kmsOfTests } from "../testing/aws/kms-of-tests.ts";

const CONTEXT = { purpose: "tokens", environment: "test", table: "t" };

const test = kmsOfTests();
const { wrapperOf } = test;
let kms: KmsServer;
let arn: string;

beforeEach(() => {
  vi.unstubAllEnvs();
  ({ kms } = test);
  kms.fault(undefined);
  kms.permit("GenerateDataKey", "Decrypt");
  arn = kms.createKey();
});

const unavailable = (detail: string | RegExp) =>
  expect.objectContaining({
    name: "OAuthError",
    code: "temporarily_unavailable",
    status: 503,
    retryAfterSeconds: 5,
    extras: { reason: "kms_unavailable" },
    detail: expect.stringMatching(detail),
  });

const expectRefusal = (call: Promise<unknown>, expected: ReturnType<typeof unavailable>): Promise<void> =>
  expect(call).rejects.toThrow(expected);

describe("bar#TS-12 an outage of KMS", () => {
  const FAULTS: readonly (readonly [string, KmsFault, RegExp, { deadlineMs: number }])[] = [
    // The SDK gives up by itself, after some seconds if it is throttled.
    ["that throttles", { kind: "throttle" }, /ThrottlingException.*quota/, PATIENT],
    ["with errors of its own", { kind: "internal" }, /KMSInternalException.*look at its status/, PATIENT],
    ["with a slow dependency", { kind: "unavailable" }, /DependencyTimeout.*look at its status/, PATIENT],
    ["that loses its answers", { kind: "drop" }, /look at its status/, PATIENT],
    ["that hangs", { kind: "hang" }, /TimeoutError.*look at its status/, { deadlineMs: 700 }],
    ["that is slow", { kind: "delay", delayMs: 9000 }, /TimeoutError.*look at its status/, { deadlineMs: 700 }],
  ];

  it.each(FAULTS)(
    "bar#TS-12 %s fails closed in time, and is over when it is over",
    async (_w, fault, detail, { deadlineMs }) => {
      const patient = wrapperOf(arn, { deadlineMs: PATIENT.deadlineMs });
      const { dataKey, wrapped } = await patient.newDataKey(CONTEXT);
      const wrapper = wrapperOf(arn, { deadlineMs });
      kms.fault(fault);
      const refused = Promise.all([
        expectRefusal(wrapper.newDataKey(CONTEXT), unavailable(detail)),
        expectRefusal(wrapper.unwrap(wrapped, CONTEXT), unavailable(detail)),
        expectRefusal(wrapper.check(CONTEXT), unavailable(detail)),
      ]);
      await soonerThan(deadlineMs + 500, refused);
      kms.fault(undefined);
      expect(await patient.unwrap(wrapped, CONTEXT)).toEqual(dataKey);
      await patient.newDataKey(CONTEXT);
    },
  );

  it("bar#TS-12 that takes nine seconds is an error before five have passed", async () => {
    const wrapper = wrapperOf(arn);
    const { wrapped } = await wrapper.newDataKey(CONTEXT);
    kms.fault({ kind: "delay", delayMs: 9000 });
    const before = kms.calls();
    const refused = Promise.all([
      expectRefusal(wrapper.newDataKey(CONTEXT), unavailable("look at its status")),
      expectRefusal(wrapper.unwrap(wrapped, CONTEXT), unavailable("look at its status")),
    ]);
    await soonerThan(5000, refused);
    // It was retried on the way: three attempts each, as the SDK is configured.
    const made = (name: string): number => (kms.calls()[name] ?? 0) - (before[name] ?? 0);
    expect([made("GenerateDataKey"), made("Decrypt")]).toEqual([3, 3]);
  });

  it("bar#TS-12 of some of its calls is not seen by callers", async () => {
    const wrapper = wrapperOf(arn);
    kms.fault({ kind: "internal", rate: 0.2 });
    const before = kms.calls()["GenerateDataKey"] ?? 0;
    for (let round = 0; round < 20; round += 1) await expect(wrapper.newDataKey(CONTEXT)).resolves.toBeDefined();
    expect((kms.calls()["GenerateDataKey"] ?? 0) - before).toBeGreaterThan(20);
  });

  it("bar#TS-12 at an address where no server listens fails at once", async () => {
    const gone = await startKms();
    await gone.close();
    const wrapper = wrapperOf(arn, { endpoint: gone.endpoint });
    await expectRefusal(wrapper.newDataKey(CONTEXT), unavailable(/ECONNREFUSED.*look at its status/));
  });

  const REFUSED = expect.objectContaining({ name: "TokenStoreError", code: "key_service_refused" });
  const state = (name: "Disabled" | "PendingDeletion") => (on: boolean) => kms.setKeyState(arn, on ? name : "Enabled");
  const STATES: readonly [string, (on: boolean) => void, RegExp, "unavailable" | "refused"][] = [
    ["disabled", state("Disabled"), /DisabledException: the key is disabled: enable/, "unavailable"],
    [
      "pending deletion",
      state("PendingDeletion"),
      /KMSInvalidStateException: .* pending deletion: cancel that and enable it/,
      "unavailable",
    ],
    [
      "that is not permitted",
      (on) => (on ? kms.permit() : kms.permit("GenerateDataKey", "Decrypt")),
      /AccessDeniedException: .*permit it kms:GenerateDataKey and kms:Decrypt/,
      "refused",
    ],
  ];
  it.each(STATES)(
    "bar#TS-12 a key %s: unavailable to callers, and back when it is",
    async (_w, set, detail, atStart) => {
      const wrapper = wrapperOf(arn);
      const { dataKey, wrapped } = await wrapper.newDataKey(CONTEXT);
      set(true);
      await expectRefusal(wrapper.newDataKey(CONTEXT), unavailable(detail));
      await expectRefusal(wrapper.unwrap(wrapped, CONTEXT), unavailable(detail));
      await expectRefusal(wrapper.check(CONTEXT), atStart === "refused" ? REFUSED : unavailable(detail));
      set(false);
      expect(await wrapper.unwrap(wrapped, CONTEXT)).toEqual(dataKey);
      await wrapper.newDataKey(CONTEXT);
      await wrapper.check(CONTEXT);
    },
  );

  it.each([
    ["that does not exist", () => arn.replace(/.{12}$/, "000000000000"), {}],
    ["of another region", () => arn.replace(":eu-west-1:", ":us-east-1:"), {}],
    ["of another account", () => arn.replace(":000000000000:", ":111111111111:"), {}],
    ["whose alias does not exist", () => "alias/unknown", { region: "eu-west-1" }],
  ])("bar#TS-12 a key %s: unavailable to callers, and a start is refused with a remedy", async (_w, keyId, options) => {
    const wrapper = wrapperOf(keyId(), options);
    const detail = /NotFoundException: .*compare the configured key id/;
    await expectRefusal(wrapper.newDataKey(CONTEXT), unavailable(detail));
    await expectRefusal(
      wrapper.check(CONTEXT),
      expect.objectContaining({ code: "key_service_refused", detail: expect.stringMatching(detail) }),
    );
  });

  it.each([
    [
      "at an endpoint in quotation marks",
      '"http://127.0.0.1:1"',
      "",
      /AWS_ENDPOINT_URL_KMS or AWS_ENDPOINT_URL is not a URL/,
    ],
    [
      "with a line break in a credential",
      "http://127.0.0.1:1",
      "a\nb",
      /ERR_INVALID_CHAR: the AWS credentials have a line break/,
    ],
  ])("bar#TS-12 a key service %s: a start is refused with a remedy", async (_w, endpoint, sessionToken, detail) => {
    vi.stubEnv("AWS_SESSION_TOKEN", sessionToken);
    const refusal = { code: "key_service_refused", detail: expect.stringMatching(detail) };
    await expectRefusal(wrapperOf(arn, { endpoint }).check(CONTEXT), expect.objectContaining(refusal));
  });

  it("bar#TS-12 a key that is gone leaves its rows closed, and the others open", async () => {
    const wrapper = wrapperOf(arn);
    const other = await startKms();
    const { wrapped } = await wrapperOf(other.createKey(), { endpoint: other.endpoint }).newDataKey(CONTEXT);
    await other.close();
    await expectRefusal(wrapper.unwrap(wrapped, CONTEXT), unavailable(/Decrypt with arn:aws:kms:.*NotFoundException/));
    const { dataKey, wrapped: ours } = await wrapper.newDataKey(CONTEXT);
    expect(await wrapper.unwrap(ours, CONTEXT)).toEqual(dataKey);
  });
});
