import { expect, it } from "vitest";
import { problemsOf, SERVER } from "../testing/environments.ts";

const client = (fields: object): string =>
  JSON.stringify([{ client_id: "desk", client_name: "Desk", redirect_uris: ["http://127.0.0.1/cb"], ...fields }]);

it.each<[string, string, string]>([
  ["clients that are no JSON", "desk", "OAUTH_CLIENTS must be a JSON array"],
  ["a client that is no object", "[1]", "OAUTH_CLIENTS [0] must be an object"],
  ["a member twice", '[{"client_id":"a","client_id":"b"}]', "OAUTH_CLIENTS must be a JSON array"],
  ["a client without id", client({ client_id: undefined }), "[0] needs a client_id"],
  ["a client id with spaces", client({ client_id: "a b" }), "[0] client_id has characters"],
  ["a client without name", client({ client_name: 1 }), "[0] needs a client_name"],
  ["a client without redirect URIs", client({ redirect_uris: [] }), "[0] needs redirect_uris"],
  ["a client with a script", client({ redirect_uris: ["javascript:x"] }), "must be https, or http on"],
  ["a client with a wildcard", client({ redirect_uris: ["https://a.example/*"] }), "wildcard"],
  ["a client with a secret", client({ client_secret: "hush" }), "clients here are public"],
  ["a misspelt member", client({ redirect_uri: "x" }), "did you mean redirect_uris?"],
  [
    "two clients of one id",
    JSON.stringify([JSON.parse(client({}))[0], JSON.parse(client({}))[0]]),
    "OAUTH_CLIENTS has two clients with the same client_id",
  ],
])("OAUTH_CLIENTS is refused with %s", (_, clients, problem) => {
  expect(problemsOf({ ...SERVER, OAUTH_CLIENTS: clients })).toEqual([expect.stringContaining(problem)]);
});
