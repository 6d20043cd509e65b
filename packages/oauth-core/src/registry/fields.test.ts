/** What the rows of the table add up to, where a mistake in a row would send something astray. */
import { describe, expect, it } from "vitest";
import {
  CHECK_FIELDS,
  fieldOf,
  FIELDS,
  FLOW_FIELDS,
  GRANT_FIELDS,
  ISSUER_FIELDS,
  TOKEN_ENDPOINT_FIELDS,
} from "./fields.ts";
import { wireName } from "./fields/shape.ts";
import type { Vendor } from "./vendor.ts";
import { words } from "../testing/corpora/words.ts";

const NAMES = Object.keys(FIELDS) as (keyof Vendor)[];

describe("the table of vendor fields", () => {
  it("bar#XA-5 binds a flow to these, in an order that flows of earlier releases have", () => {
    expect(FLOW_FIELDS).toEqual(
      words(`issuer authorizationEndpoint tokenEndpoint refreshEndpoint revocationEndpoint
      jwksUri pkce tokenEndpointAuthMethod`),
    );
  });

  it("bar#BY-4 drops all token endpoints if the token endpoint is another party's", () => {
    const recipients = [...GRANT_FIELDS, ...CHECK_FIELDS].filter((name) => name !== "tokenEndpoint");
    expect(TOKEN_ENDPOINT_FIELDS.toSorted()).toEqual([...recipients, "apiHosts"].toSorted());
    expect(ISSUER_FIELDS).toEqual(["issuer", "jwksUri", "issuerTemplate"]);
  });

  it("describes what an operator may write, under its own name", () => {
    for (const name of NAMES.filter((one) => fieldOf(one).by.includes("file"))) {
      expect(fieldOf(name), name).toMatchObject({
        description: expect.stringMatching(/\.$/),
        example: expect.any(String),
      });
    }
    const variables = NAMES.flatMap((name) => fieldOf(name).variable?.name ?? []);
    expect(new Set(variables).size).toBe(variables.length);
    expect(["jwksUri", "tokenEndpointAuthMethod", "idTokenAlgs"].map((name) => wireName(name))).toEqual([
      "jwks_uri",
      "token_endpoint_auth_method",
      "id_token_algs",
    ]);
  });
});
