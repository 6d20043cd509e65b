import { expect, it } from "vitest";
import { authorizationServerMetadata } from "./metadata.ts";

const metadata = authorizationServerMetadata("https://broker.example", {
  authorization: "/v1/authorize",
  pushedAuthorizationRequest: "/v1/par",
  token: "/v1/token",
  revocation: "/v1/revoke",
});

it("rfc8414#2 names the issuer byte for byte and builds every endpoint from it", () => {
  expect(metadata["issuer"]).toBe("https://broker.example");
  for (const [name, value] of Object.entries(metadata)) {
    if (name.endsWith("_endpoint")) expect(value).toMatch(/^https:\/\/broker\.example\/v1\/\w+$/);
  }
});

it("rfc9126#5 rfc9207#3 wants pushed requests, promises iss, and offers S256 only", () => {
  expect(metadata).toMatchObject({
    require_pushed_authorization_requests: true,
    authorization_response_iss_parameter_supported: true,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt"],
  });
});

it("does not offer registration: /register is not RFC 7591 towards us", () => {
  expect(metadata).not.toHaveProperty("registration_endpoint");
});
