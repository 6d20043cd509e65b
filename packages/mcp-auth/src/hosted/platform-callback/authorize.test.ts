import { deriveCodeChallenge } from "@oauth-broker/oauth-core/protocol";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import {
  CALLBACK,
  openHostedFixture,
  PLATFORM_STATE,
  SCOPES,
  SERVER,
  UNASKED_VENDOR,
  VERIFIER,
} from "../../testing/hosted-fixture.ts";
import { location } from "../../testing/server-fixture.ts";

const vendor = { ...UNASKED_VENDOR, authorizationParams: { access_type: "offline" } };
const fixture = shared(() => openHostedFixture({ vendor }));

it("an outage is reported to the platform", async () => {
  await using cold = openHostedFixture({ vendor });
  cold.down.add("records");
  expect(location(await cold.authorize()).searchParams.get("error")).toBe("temporarily_unavailable");
});

describe("the redirect to the vendor", () => {
  it("has the platform's redirect URI and state, our client, and our challenge", async () => {
    const ignored = { prompt: "none", login_hint: "victim", allow_signup: "false", nonce: "mine", redirect_url: "x" };
    const answer = await fixture.authorize({ ...ignored, resource: `${SERVER}/mcp`, scope: undefined });
    expect(answer.status).toBe(303);
    const url = location(answer);
    const { code_challenge: challenge, ...sent } = Object.fromEntries(url.searchParams);
    expect(url.origin + url.pathname).toBe("https://vendor.example/authorize");
    expect(sent).toEqual({
      access_type: "offline",
      response_type: "code",
      client_id: "our-client",
      redirect_uri: CALLBACK,
      scope: SCOPES.join(" "),
      state: PLATFORM_STATE,
      code_challenge_method: "S256",
    });
    expect(challenge).toMatch(/^[\w-]{43}$/);
    expect(challenge).not.toBe(deriveCodeChallenge(VERIFIER));
  });

  it("bar#VR-1 has the same challenge in every process, and another for another flow", async () => {
    const challenge = async (parameters = {}): Promise<string | null> =>
      location(await fixture.authorize(parameters)).searchParams.get("code_challenge");
    expect(await challenge()).toBe(await challenge());
    expect(await challenge({ code_challenge: deriveCodeChallenge("v".repeat(43)) })).not.toBe(await challenge());
    await using elsewhere = openHostedFixture({ vendor });
    expect(location(await elsewhere.authorize()).searchParams.get("code_challenge")).not.toBe(await challenge());
  });

  it("requests the scope the platform requests", async () => {
    expect(location(await fixture.authorize({ scope: "api:read" })).searchParams.get("scope")).toBe("api:read");
  });

  it("is not followed by a link preview, nor by a form", async () => {
    for (const method of ["HEAD", "POST"]) {
      const { status, headers } = await fixture.request("/authorize", { method });
      expect([status, headers.get("allow")]).toEqual([405, "GET"]);
    }
  });
});
