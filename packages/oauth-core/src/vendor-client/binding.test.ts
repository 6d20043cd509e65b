import { systemTimer } from "../mechanics/system-timer.ts";
import { describe, expect, it } from "vitest";
import { Secret } from "../protocol/secret.ts";
import { fixedClock } from "../testing/fixed-clock.ts";
import { defineVendor, type Vendor, type VendorCredentials } from "../registry/vendor.ts";
import { createVendorClient } from "./index.ts";

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** One code redemption, as the vendor would see it. */
async function redeem(
  entry: Partial<Vendor>,
  { clientId = "client", clientSecret }: { clientId?: string; clientSecret?: string },
): Promise<Sent> {
  const sent: Sent[] = [];
  const client = createVendorClient({
    timer: systemTimer,
    fetch: async (url, init) => {
      sent.push({
        url: url.toString(),
        headers: new Headers(init?.headers),
        body: await new Request(url, init).text(),
      });
      return Response.json({ access_token: "a", token_type: "bearer" });
    },
    now: fixedClock(1_700_000_000),
    allowLoopback: false,
  });
  const vendor = await client.resolve(
    defineVendor({
      id: "v",
      name: "V",
      authorizationEndpoint: "https://v.example/a",
      tokenEndpoint: "https://v.example/t",
      ...entry,
    }),
  );
  const credentials: VendorCredentials = {
    id: "1",
    source: "shared",
    clientId,
    ...(clientSecret === undefined ? {} : { clientSecret: new Secret(clientSecret) }),
  };
  await client.redeemCode(vendor, credentials, {
    code: "code",
    redirectUri: "https://b.example/cb",
    codeVerifier: "verifier",
    scope: [],
  });
  const [only, ...more] = sent;
  if (only === undefined || more.length > 0) throw new Error("expected one request");
  return only;
}

const decodeBasic = (header: string | null): string[] =>
  Buffer.from((header ?? "").replace("Basic ", ""), "base64")
    .toString("utf8")
    .split(":")
    .map((part) => new URLSearchParams(`v=${part}`).get("v") ?? "");

describe("client authentication", () => {
  it.each([
    ["plain", "client", "secret"],
    ["colons", "a:b", "c:d"],
    ["percent and plus", "a%2Fb", "c+d e"],
    ["ampersand and equals", "a&b=c", "d&e=f"],
    ["not ASCII", "kunde-ü", "schlüssel-\u{1f511}"],
  ])("rfc6749#2.3.1 bar#VR-4 by Basic form-encodes id and secret: %s", async (_title, clientId, clientSecret) => {
    const { headers, body, url } = await redeem({}, { clientId, clientSecret });
    expect(decodeBasic(headers.get("authorization"))).toEqual([clientId, clientSecret]);
    expect(body + url).not.toContain("client_secret");
  });

  it("bar#VR-4 by Basic leaves alone what needs no encoding, for vendors that do not decode", async () => {
    const { headers } = await redeem({}, { clientId: "12-ab.apps_x*", clientSecret: "GO_CS-PX.1" });
    expect(Buffer.from((headers.get("authorization") ?? "").slice(6), "base64").toString()).toBe(
      "12-ab.apps_x*:GO_CS-PX.1",
    );
  });

  it("bar#VR-4 by post puts them in the body and nowhere else", async () => {
    const { headers, body, url } = await redeem(
      { tokenEndpointAuthMethod: "client_secret_post" },
      { clientSecret: "s&t" },
    );
    expect(headers.has("authorization")).toBe(false);
    expect(new URLSearchParams(body).get("client_secret")).toBe("s&t");
    expect(url).toBe("https://v.example/t");
  });

  it.each(["client_secret_basic", "client_secret_post", "none"] as const)(
    "of a public client is its id alone, for the entry's method %s",
    async (method) => {
      const { headers, body } = await redeem({ tokenEndpointAuthMethod: method }, {});
      expect(headers.has("authorization")).toBe(false);
      expect(Object.fromEntries(new URLSearchParams(body))).toMatchObject({ client_id: "client" });
      expect(body).not.toContain("client_secret");
    },
  );
});

describe("a token request", () => {
  it("is a form that asks for JSON", async () => {
    const { headers, body } = await redeem({}, { clientSecret: "s" });
    expect(headers.get("content-type")).toMatch(/^application\/x-www-form-urlencoded/);
    expect(headers.get("accept")).toBe("application/json");
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: "authorization_code",
      code: "code",
      redirect_uri: "https://b.example/cb",
      code_verifier: "verifier",
    });
  });

  it("is JSON where the vendor wants that", async () => {
    const { headers, body } = await redeem(
      { tokenRequestBody: "json", tokenEndpointAuthMethod: "client_secret_post" },
      { clientSecret: "s" },
    );
    expect(headers.get("content-type")).toBe("application/json");
    expect(JSON.parse(body)).toEqual({
      grant_type: "authorization_code",
      code: "code",
      redirect_uri: "https://b.example/cb",
      code_verifier: "verifier",
      client_id: "client",
      client_secret: "s",
    });
  });

  it.each(["http://v.example/t", "http://127.0.0.1/t"])(
    "does not go to %s unless that is permitted loopback",
    async (tokenEndpoint) => {
      await expect(redeem({ tokenEndpoint }, { clientSecret: "s" })).rejects.toMatchObject({
        code: "vendor_response_invalid",
      });
    },
  );
});
