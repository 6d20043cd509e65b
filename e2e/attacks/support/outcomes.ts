/** What every refusal must look like, and how a twin switches a defence off. */
import * as policies from "@oauth-broker/broker/src/flows/policy.ts";
import * as issuerModule from "../../../packages/oauth-core/src/vendor-client/issuer.ts";
import * as browserBindingModule from "../../../packages/oauth-core/src/authorization-server/browser-binding.ts";
import { weaken } from "@oauth-broker/oauth-core/testing";
import { expect } from "vitest";
import { twins } from "./every-answer.ts";
import type { Exchange } from "./names.ts";

/**
 * A browser is refused: a small page, no redirect, nothing cached, nothing of the request on it.
 *
 * @param notOnPage texts of the request that must not come back
 */
export function expectRefusalPage(
  answer: Exchange | undefined,
  reason: string,
  notOnPage: readonly string[] = [],
): void {
  expect(answer?.status).toBe(400);
  expect(answer?.headers.get("location")).toBeNull();
  expect(answer?.headers.get("content-type")).toMatch(/^text\/html/);
  expect(answer?.headers.get("cache-control")).toBe("no-store");
  expect(answer?.body).toContain(`<code>${reason}</code>`);
  for (const text of notOnPage) if (text.length > 3) expect(answer?.body).not.toContain(text);
}

/** From here on the test is the twin: the same attack with exactly one defence replaced. */
export function without<Module extends object>(...replaced: Parameters<typeof weaken<Module>>): void {
  twins.ran += 1;
  weaken(...replaced);
}

/** Any issuer is accepted beside an answer. */
export function withoutIssuer(): void {
  without(issuerModule, () => ({ requireIssuer: () => undefined }));
}

/** Every browser seems to hold the same cookie. */
export function withoutBindingCookie(): void {
  without(browserBindingModule, ({ readBindingCookie }) => ({
    readBindingCookie: (_header, issuer, flowId) =>
      readBindingCookie(`__Host-flow-${flowId}=${"A".repeat(43)}`, issuer, flowId),
  }));
}

/** An answer is accepted for its flow on any path. */
export function withoutPathOfFlow(): void {
  without(policies, ({ createFlows }) => ({
    createFlows: (deps) => {
      const flows = createFlows(deps);
      const callback: typeof flows.callback = async (request, trace) => {
        const { jti } = await deps.state.verify(request.parameters.require("state"));
        const record = await deps.records.get({ kind: "flow", id: jti });
        const path = record?.data["path"];
        return flows.callback({ ...request, path: typeof path === "string" ? path : request.path }, trace);
      };
      return { ...flows, callback };
    },
  }));
}
