import { expect, it } from "vitest";
import { parseParameters } from "../protocol/parameters.ts";
import { createFlowId } from "./handle.ts";
import { createRequestUri, parseRequestUri, readPushedRequest } from "./pushed-request.ts";

const CLIENT = { clientId: "platform", secretDigests: [], redirectUris: ["https://platform.example/cb"] };
const GOOD = {
  client_id: "platform",
  response_type: "code",
  redirect_uri: "https://platform.example/cb",
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
  state: "as sent & kept",
};
const read = (overrides: Record<string, string>) =>
  readPushedRequest(parseParameters(new URLSearchParams({ ...GOOD, ...overrides }).toString()), CLIENT);

it("reads what every pushed request must hold", () => {
  expect(read({})).toMatchObject({ codeChallenge: GOOD.code_challenge, state: GOOD.state });
  expect(read({}).redirect.uri).toBe(GOOD.redirect_uri);
});

it.each<[string, Record<string, string>, string]>([
  ["request_uri", { request_uri: "urn:x" }, "invalid_request"],
  ["request", { request: "eyJ" }, "invalid_request"],
  ["another client", { client_id: "other" }, "invalid_request"],
  ["no client_id", { client_id: "" }, "invalid_request"],
  ["the implicit flow", { response_type: "token" }, "invalid_request"],
  ["no response_type", { response_type: "" }, "invalid_request"],
  ["fragment responses", { response_mode: "fragment" }, "invalid_request"],
  ["no redirect_uri", { redirect_uri: "" }, "invalid_request"],
  [
    "rfc9126#2.3 bar#ST-2 a redirect URI that is not on the list",
    { redirect_uri: "https://platform.example/cb/" },
    "invalid_request",
  ],
  ["no code_challenge", { code_challenge: "" }, "invalid_request"],
  ["plain", { code_challenge_method: "plain" }, "invalid_request"],
  ["no method, which would mean plain", { code_challenge_method: "" }, "invalid_request"],
  ["42 characters", { code_challenge: "a".repeat(42) }, "invalid_request"],
])("rfc9126#2.1 rfc7636#4.4.1 bar#ST-2 bar#ST-3 refuses %s", (_, overrides, code) => {
  expect(() => read(overrides)).toThrow(expect.objectContaining({ code }));
});

it("rfc9700#2.1 frees no port, on loopback neither: the clients are backends", () => {
  for (const uri of ["http://127.0.0.1/cb", "http://[::1]/cb", "http://localhost/cb"]) {
    const client = { ...CLIENT, redirectUris: [uri] };
    const request = new URLSearchParams({ ...GOOD, redirect_uri: uri.replace("/cb", ":49152/cb") }).toString();
    expect(() => readPushedRequest(parseParameters(request), client)).toThrow(
      expect.objectContaining({ code: "invalid_request", extras: { reason: "redirect_uri" } }),
    );
  }
});

it("echoes a state of 4096 characters and refuses a longer one", () => {
  const longest = "s".repeat(4096);
  expect(read({ state: longest }).state).toBe(longest);
  expect(() => read({ state: `${longest}s` })).toThrow(
    expect.objectContaining({ code: "invalid_request", description: "state is longer than 4096 characters" }),
  );
});

it("makes request_uris that name the flow and are known by hash", () => {
  const flowId = createFlowId();
  const { requestUri, hash } = createRequestUri(flowId);
  expect(parseRequestUri(requestUri)).toMatchObject({ flowId, hash });
  expect(parseRequestUri(requestUri.replace("urn:ietf", "urn:other"))).toBeUndefined();
  expect(parseRequestUri(`${requestUri}x`)).toBeUndefined();
});
