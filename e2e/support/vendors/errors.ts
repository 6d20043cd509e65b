/**
 * The error table of one vendor, row by row: what the vendor answers, and what a platform gets. It
 * contains every error of the simulator.
 */
import type { VendorSimulator } from "@oauth-broker/simulators/vendors";
import { expectError } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { browse } from "../broker/platform.ts";
import type { VendorHarness } from "./harness.ts";

/** Status and `error` of our answer. */
export type TokenRow = readonly [number, string];

export interface ErrorTable {
  /** By the vendor's code at its token endpoint. */
  readonly token: Readonly<Record<string, TokenRow>>;
  /**
   * By its code at the authorization endpoint; `page`: the vendor shows one, and the browser does
   * not come back.
   */
  readonly authorization: Readonly<Record<string, string>>;
  /** By its code, or status, at the revocation endpoint: our answer to /v1/revoke. */
  readonly revocation?: Readonly<Record<string, TokenRow | "already">>;
  /** The value of `vendor_error` when it is not the code itself. */
  readonly vendorError?: Readonly<Record<string, string>>;
}

/** A vendor whose codes are those of RFC 6749, 7009 and 8707, and its rate limit. */
export const STANDARD_ERRORS: ErrorTable = {
  token: {
    invalid_request: [502, "vendor_response_invalid"],
    invalid_client: [400, "vendor_credentials_rejected"],
    invalid_grant: [400, "invalid_grant"],
    unauthorized_client: [400, "vendor_credentials_rejected"],
    unsupported_grant_type: [502, "vendor_response_invalid"],
    invalid_scope: [400, "invalid_scope"],
    invalid_target: [502, "vendor_response_invalid"],
    too_many_requests: [503, "temporarily_unavailable"],
    server_error: [503, "temporarily_unavailable"],
    temporarily_unavailable: [503, "temporarily_unavailable"],
  },
  authorization: {
    access_denied: "access_denied",
    invalid_request: "server_error",
    invalid_scope: "invalid_scope",
    invalid_target: "server_error",
    unauthorized_client: "vendor_credentials_rejected",
    unsupported_response_type: "server_error",
    server_error: "server_error",
    temporarily_unavailable: "temporarily_unavailable",
  },
  revocation: {
    invalid_client: [400, "vendor_credentials_rejected"],
    unsupported_token_type: [400, "unsupported_token_type"],
    temporarily_unavailable: [503, "temporarily_unavailable"],
  },
};

export function describeErrors(stageOf: () => VendorHarness<VendorSimulator>, table: ErrorTable): void {
  const vendorErrorOf = (code: string): string => table.vendorError?.[code] ?? code;

  describe("errors", () => {
    it("are all in the table", () => {
      const { errors } = stageOf().vendor;
      expect(Object.keys(table.token).toSorted()).toEqual([...(errors.token ?? [])].toSorted());
      expect(Object.keys(table.authorization).toSorted()).toEqual([...(errors.authorization ?? [])].toSorted());
      expect(Object.keys(table.revocation ?? {}).toSorted()).toEqual([...(errors.revocation ?? [])].toSorted());
    });

    it.each(Object.entries(table.token))("bar#VR-9 at the token endpoint: %s is %j", async (code, [status, error]) => {
      const { vendor, platform } = stageOf();
      const flow = await platform.toPlatform();
      vendor.refuseNext("token", code);
      const answer = await platform.redeem(flow);
      expectError(answer, status, error);
      // The body of a 429 or 5xx is not read.
      if (status !== 503) expect(answer.body["vendor_error"]).toBe(vendorErrorOf(code));
      if (error === "vendor_credentials_rejected") expect(answer.body["credentials_source"]).toBe("shared");
    });

    it.each(Object.entries(table.authorization))("at the authorization endpoint: %s is %s", async (code, expected) => {
      const { vendor, platform } = stageOf();
      vendor.refuseNext("authorization", code);
      const journey = platform.toCallback();
      if (expected === "page") {
        await expect(journey).rejects.toThrow(/has no form to go on with|answered 4/);
        return;
      }
      const { callback, jar } = await journey;
      const returned = new URL((await browse(callback, jar)).headers.get("location") ?? "about:blank").searchParams;
      expect(returned.get("error")).toBe(expected);
      expect(returned.get("vendor_error")).toBe(vendorErrorOf(code));
    });

    it.each(Object.entries(table.revocation ?? {}))("bar#RV-2 at revocation: %s is %j", async (code, expected) => {
      const harness = stageOf();
      const grant = await harness.connect();
      harness.vendor.refuseNext("revocation", code);
      const answer = await harness.revoke(grant.accessToken, grant);
      if (expected === "already") expect(answer.body).toEqual({ revoked: "already" });
      else expectError(answer, ...expected);
    });
  });
}

/** The user declines, at either of the two places. */
export function describeCancel(
  stageOf: () => VendorHarness<VendorSimulator>,
  places: readonly ("cancel" | "cancel-sign-in")[] = ["cancel", "cancel-sign-in"],
): void {
  it.each(places)("reports to the platform that the user declined: %s", async (decision) => {
    const { platform } = stageOf();
    const { callback, jar, state } = await platform.toCallback({ decision });
    const returned = new URL((await browse(callback, jar)).headers.get("location") ?? "about:blank").searchParams;
    expect(Object.fromEntries(returned)).toMatchObject({ error: "access_denied", state });
  });
}
