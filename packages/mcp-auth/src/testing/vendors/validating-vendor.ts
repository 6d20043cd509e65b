/** The bearer check of pre-registered mode, with a vendor that answers as a test says. */
import type { AccessTokenValidation } from "@oauth-broker/oauth-core/vendor-client";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import type { Authenticate } from "../../mode.ts";
import { createAuthenticate } from "../../pre-registered/authenticate.ts";
import { NOW } from "../test-sessions.ts";

export interface ValidatingVendor {
  readonly authenticate: Authenticate;
  readonly now: ReturnType<typeof fixedClock>;
  /** The tokens that were validated, in order. */
  readonly asked: string[];
}

/** @param validate an Error is thrown */
export function validatingVendor(validate: (token: string) => object | Promise<object>): ValidatingVendor {
  const now = fixedClock(NOW);
  const asked: string[] = [];
  const authenticate = createAuthenticate({
    settings: { credentials: undefined },
    vendor: async () => ({ id: "example" }) as ResolvedVendor,
    now,
    vendorClient: {
      validateAccessToken: async (_, token) => {
        asked.push(token);
        const validation = await validate(token);
        if (validation instanceof Error) throw validation;
        return validation as AccessTokenValidation;
      },
    },
  });
  return { authenticate, now, asked };
}
