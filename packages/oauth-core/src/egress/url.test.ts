import { describe, expect, it } from "vitest";
import { OAuthError } from "../protocol/errors.ts";
import { requireEgressUrl, urlFault } from "./url.ts";

const refusal = (url: string, options: Parameters<typeof requireEgressUrl>[1]): OAuthError => {
  try {
    requireEgressUrl(url, options);
  } catch (error) {
    if (error instanceof OAuthError) return error;
    throw error;
  }
  throw new Error(`${url} passed`);
};

describe("requireEgressUrl", () => {
  it.each([
    "https://vendor.example/oauth/token",
    "https://vendor.example",
    "https://vendor.example:443/token?a=b&c=%20",
    "https://VENDOR.example/Token",
    "https://a-b.c_d.xn--mnchen-3ya.example/x;y=1,(2)~",
    "https://8.8.8.8/token",
    "https://[2606:4700::1111]/token",
    `https://${"a.".repeat(123)}example/`,
  ])("bar#EG-7 passes %s", (url) => {
    expect(requireEgressUrl(url, { allowLoopback: false }).href).toBe(new URL(url).href);
  });

  it("bar#EG-7 answers invalid_request without echoing the URL", () => {
    const error = refusal("https://canary:canary@vendor.example/canary", { allowLoopback: false });
    expect(error).toMatchObject({ code: "invalid_request", status: 400, extras: { reason: "endpoint_forbidden" } });
    expect(`${error.message} ${error.detail} ${String(error.cause)}`).not.toContain("canary");
    expect(error.description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  it.each([
    ["http://vendor.example/", "https"],
    ["ftp://vendor.example/", "https"],
    ["https://vendor.example:8443/", "443"],
    ["https://10.0.0.1/", "public internet"],
    ["https://db/", "public internet"],
    ["https://vendor.example/#x", "fragment"],
  ])("says about %s what is wrong", (url, word) => {
    expect(refusal(url, { allowLoopback: false }).description).toContain(word);
  });

  it.each([
    "http://127.0.0.1:8788/x",
    "http://localhost:3000",
    "https://localhost:8443/",
    "http://[::1]:9/",
    "https://127.1.2.3/",
  ])("passes %s only where loopback is allowed", (url) => {
    expect(requireEgressUrl(url, { allowLoopback: true }).href).toBe(new URL(url).href);
    expect(refusal(url, { allowLoopback: false }).code).toBe("invalid_request");
  });

  it.each([
    "http://sub.localhost/",
    "http://[::ffff:127.0.0.1]/",
    "http://0.0.0.0/",
    "http://127.1/",
    "http://vendor.example/",
    "ftp://localhost/",
  ])("refuses %s even where loopback is allowed", (url) =>
    expect(refusal(url, { allowLoopback: true }).code).toBe("invalid_request"),
  );

  it("leaves names and ports to connection time if the operator named networks", () => {
    const options = { allowLoopback: false, allowCidrs: ["10.20.0.0/16"] };
    for (const url of ["https://keycloak:8443/", "https://idp.corp.internal/", "https://10.20.0.1:9443/"]) {
      expect(requireEgressUrl(url, options).href).toBe(url);
    }
    for (const url of [
      "http://idp.corp.internal/",
      "https://10.21.0.1/",
      "https://127.0.0.1/",
      "https://8.8.8.8:8443/",
    ]) {
      expect(refusal(url, options).code).toBe("invalid_request");
    }
  });
});

it.each(["https://user@vendor.example/", "https://:pass@vendor.example/", "https://vendor.example/#x"])(
  "bar#EG-7 urlFault finds the fault of %s in a parsed URL too",
  (url) => {
    expect(urlFault(new URL(url), { allowLoopback: false })).toBe("syntax");
  },
);
