import { REGISTRY, type ScopeRefusal } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import { scopesLacking } from "./insufficient-scope.ts";

const challenged = (challenge: string, status = 403) =>
  new Response(null, { status, headers: { "www-authenticate": challenge } });
const read = (challenge: string, status = 403) => scopesLacking(challenged(challenge, status), { askable: [] });
const refusalOf = (id: string): ScopeRefusal | undefined => REGISTRY.get(id)?.vendor.scopeRefusal;

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
  ])("are read from %s", async (challenge, scopes) => {
    expect(await read(challenge)).toEqual(scopes);
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
  ])("are none in %s", async (challenge) => {
    expect(await read(challenge)).toEqual([]);
  });

  it("are none in another status", async () => {
    expect(await read('Bearer error="insufficient_scope", scope="a"', 401)).toEqual([]);
  });
});

describe("a vendor whose challenge names alternatives", () => {
  const scopeRefusal = refusalOf("google-workspace");
  const two = challenged('Bearer realm="https://accounts.google.com/", error="insufficient_scope", scope="a b"');

  it("is asked for those that may be asked for", async () => {
    expect(await scopesLacking(two, { scopeRefusal, askable: ["b", "c"] })).toEqual(["b"]);
  });

  it("names them all where none may be, so that the call ends as a tool error", async () => {
    expect(await scopesLacking(two, { scopeRefusal, askable: ["c"] })).toEqual(["a", "b"]);
  });
});

describe("a vendor whose headers name accepted scopes", () => {
  const readHeaders = (headers: Record<string, string>, askable = ["repo"], status = 403) =>
    scopesLacking(new Response("no", { status, headers }), { scopeRefusal: refusalOf("github"), askable });
  const LACKS = { "X-Accepted-OAuth-Scopes": "repo, public_repo", "X-OAuth-Scopes": "read:user" };

  it("lacks one of them where the token has none", async () => {
    expect(await readHeaders(LACKS)).toEqual(["repo"]);
    expect(await readHeaders({ ...LACKS, "X-OAuth-Scopes": "" })).toEqual(["repo"]);
  });

  it.each([
    ["the token has one of them", { ...LACKS, "X-OAuth-Scopes": "read:user, public_repo" }, ["repo"], 403],
    ["none of them may be asked for", LACKS, ["read:org"], 403],
    ["the vendor does not say what the token has", { "X-Accepted-OAuth-Scopes": "repo" }, ["repo"], 403],
    ["nothing is needed", { ...LACKS, "X-Accepted-OAuth-Scopes": "" }, ["repo"], 403],
    ["one of them is no scope", { ...LACKS, "X-Accepted-OAuth-Scopes": 'repo, "x' }, ["repo"], 403],
    ["there are too many", { ...LACKS, "X-Accepted-OAuth-Scopes": `repo${", a".repeat(2_000)}` }, ["repo"], 403],
    ["the status is another", LACKS, ["repo"], 404],
  ])("lacks none where %s", async (_, headers, askable, status) => {
    expect(await readHeaders(headers, askable, status)).toEqual([]);
  });
});

describe("a vendor whose body names the needed scopes", () => {
  const scopeRefusal = refusalOf("slack");
  const JSON_TYPE = "application/json; charset=utf-8";
  const MISSING = { ok: false, error: "missing_scope", needed: "chat:write,users:read", provided: "a" };
  const answer = (body: unknown, { status = 200, type = JSON_TYPE } = {}) =>
    new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers: { "content-type": type } });
  const readBody = (one: Response) => scopesLacking(one, { scopeRefusal, askable: [] });

  it("lacks them all, and its body can still be read", async () => {
    const one = answer(MISSING);
    expect(await readBody(one)).toEqual(["chat:write", "users:read"]);
    expect(await one.json()).toEqual(MISSING);
  });

  it.each([
    ["an array", [MISSING]],
    ["no object", "null"],
    ["cut short", JSON.stringify(MISSING).slice(0, -1)],
    ["not JSON", "missing_scope"],
    ["empty", ""],
    ["another error", { ...MISSING, error: "not_authed" }],
    ["a list of errors", { ...MISSING, error: ["missing_scope"] }],
    ["without the needed scopes", { ok: false, error: "missing_scope" }],
    ["needed scopes that are no text", { ...MISSING, needed: ["chat:write"] }],
    ["a needed scope that is none", { ...MISSING, needed: 'chat:write,say "yes"' }],
    ["a needed scope of two lines", { ...MISSING, needed: "chat:write\nPress yes" }],
    ["an empty one", { ...MISSING, needed: "chat:write," }],
    ["too many", { ...MISSING, needed: `a${",a".repeat(4_000)}` }],
    ["inherited members", '{"__proto__":{"error":"missing_scope","needed":"chat:write"}}'],
    ["larger than a refusal", { ...MISSING, more: "x".repeat(20_000) }],
  ])("lacks none where the body is, or has, %s", async (_, body) => {
    const one = answer(body);
    expect(await readBody(one)).toEqual([]);
    expect(await one.text()).toBe(typeof body === "string" ? body : JSON.stringify(body));
  });

  it("lacks none in another status, or in a body of another type", async () => {
    expect(await readBody(answer(MISSING, { status: 403 }))).toEqual([]);
    expect(await readBody(answer(MISSING, { type: "text/html" }))).toEqual([]);
    expect(await readBody(new Response(null, { headers: { "content-type": JSON_TYPE } }))).toEqual([]);
  });

  it("is not read at all without an entry that says so", async () => {
    const one = answer(MISSING);
    expect(await scopesLacking(one, { askable: ["chat:write"] })).toEqual([]);
    expect(one.body?.locked).toBe(false);
  });

  it("is read no further than a refusal is long: a body without an end", async () => {
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 1;
        controller.enqueue(Buffer.alloc(8_192, "["));
      },
    });
    expect(await readBody(new Response(body, { headers: { "content-type": JSON_TYPE } }))).toEqual([]);
    expect(sent).toBeLessThan(10);
  });
});
