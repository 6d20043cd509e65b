import { describe, expect, it } from "vitest";
import { scopesLacking } from "./insufficient-scope.ts";

const read = (challenge: string, status = 403) =>
  scopesLacking(new Response(null, { status, headers: { "www-authenticate": challenge } }));

describe("the scopes that a 403 names", () => {
  it.each([
    ['Bearer error="insufficient_scope", scope="a b:c"', ["a", "b:c"]],
    ['bearer  ERROR="insufficient_scope" ,SCOPE="a"', ["a"]],
    [
      'Bearer realm="x, error=y", scope="https://api.example/read", error=insufficient_scope',
      ["https://api.example/read"],
    ],
    ['Basic realm="x", Bearer error="insufficient_scope", scope="a"', ["a"]],
    ['Bearer error="insufficient_scope", scope="a", scope="b"', ["a"]],
  ])("are read from %s", (challenge, scopes) => {
    expect(read(challenge)).toEqual(scopes);
  });

  it.each([
    "",
    "Bearer",
    'Bearer error="insufficient_scope"',
    'Bearer error="insufficient_scope", scope=""',
    'Bearer error="insufficient_scope", scope="a  b"',
    'Bearer error="insufficient_scope", scope="a\\"b"',
    'Bearer scope="a"',
    'Bearer error="invalid_token", scope="a"',
    'Bearer error_description="insufficient_scope", scope="a"',
    'DPoP error="insufficient_scope", scope="a"',
    `Bearer error="insufficient_scope", scope="${"a ".repeat(4_000)}a"`,
  ])("are none in %s", (challenge) => {
    expect(read(challenge)).toEqual([]);
  });

  it("are none in another status", () => {
    expect(read('Bearer error="insufficient_scope", scope="a"', 401)).toEqual([]);
  });
});
