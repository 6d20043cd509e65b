import { describe, expect, it, vi } from "vitest";
import { OAuthError } from "../../protocol/errors.ts";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { resolvedVendor } from "../../testing/network/resolved-vendor.ts";
import { type Reading, readTokenAnswer, type TokenAnswer } from "./response.ts";

const CALL = { what: "code redemption", spends: true };

interface Options extends Partial<Reading> {
  readonly type?: string;
  readonly status?: number;
  readonly dialect?: object;
}

function read(
  body: string | object,
  { type = "application/json", status = 200, dialect = {}, ...reading }: Options = {},
): Promise<TokenAnswer> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = new Response(text, { status, headers: type === "" ? {} : { "content-type": type } });
  if (type === "") response.headers.delete("content-type");
  return readTokenAnswer(response, resolvedVendor(dialect), CALL, { now: fixedClock(1_700_000_000), ...reading });
}

const SOUND = { access_token: "a", token_type: "Bearer" };
const READ = { accessToken: "a", tokenType: "Bearer", vendorData: {} };
const INVALID = { code: "vendor_response_invalid", status: 502 };

describe("a token answer that would be good by its body", () => {
  it.each([301, 302, 303, 307, 308])("bar#EG-12 is refused with status %i", async (status) => {
    await expect(read(SOUND, { status })).rejects.toMatchObject(INVALID);
  });

  it.each(["text/html", "text/html; charset=utf-8", "application/xhtml+xml", "image/png"])(
    "bar#VR-7 is read as %s too, and a form likewise: the first character decides",
    async (type) => {
      expect(await read(SOUND, { type })).toEqual(READ);
      expect(await read("access_token=a&token_type=bearer", { type })).toEqual(READ);
    },
  );
});

describe("bar#VR-7 a success", () => {
  it.each<[string, object, object]>([
    ["token_type absent", { access_token: "a" }, READ],
    ["token_type null", { ...SOUND, token_type: null }, READ],
    ["token_type in any case", { ...SOUND, token_type: "bEARER" }, READ],
    ["token_type of the vendor's own", { ...SOUND, token_type: "user" }, READ],
    ["token_type that is no bearer token", { ...SOUND, token_type: "DPoP" }, { ...READ, tokenType: "DPoP" }],
    ["expires_in", { ...SOUND, expires_in: 3600 }, { ...READ, expiresInSeconds: 3600 }],
    ["expires_in with a fraction", { ...SOUND, expires_in: 3599.9 }, { ...READ, expiresInSeconds: 3599 }],
    ["expires_in as a string", { ...SOUND, expires_in: "3600" }, { ...READ, expiresInSeconds: 3600 }],
    ["expires_in as a string with a fraction", { ...SOUND, expires_in: "3599.5" }, { ...READ, expiresInSeconds: 3599 }],
    ["expires_in below one", { ...SOUND, expires_in: "0.5" }, READ],
    ["expires_in 0", { ...SOUND, expires_in: 0 }, READ],
    ["expires_in negative", { ...SOUND, expires_in: -1 }, READ],
    ["expires_in negative as a string", { ...SOUND, expires_in: "-1" }, READ],
    ["expires_in not a number", { ...SOUND, expires_in: "NaN" }, READ],
    ["expires_in empty", { ...SOUND, expires_in: "" }, READ],
    ["expires_in null", { ...SOUND, expires_in: null }, READ],
    ["expires_in an object", { ...SOUND, expires_in: {} }, READ],
    ["refresh_token null", { ...SOUND, refresh_token: null }, READ],
    ["refresh_token empty", { ...SOUND, refresh_token: "" }, READ],
    ["refresh_token", { ...SOUND, refresh_token: "r" }, { ...READ, refreshToken: "r" }],
    ...["refresh_token_expires_in", "refresh_expires_in", "x_refresh_token_expires_in"].flatMap(
      (name): [string, object, object][] => [
        [
          `${name}, which stays a member of the vendor's`,
          { ...SOUND, refresh_token: "r", [name]: "5184000" },
          { ...READ, refreshToken: "r", refreshExpiresInSeconds: 5_184_000, vendorData: { [name]: "5184000" } },
        ],
        [
          `${name} of 0, which is no lifetime`,
          { ...SOUND, refresh_token: "r", [name]: 0 },
          { ...READ, refreshToken: "r", vendorData: { [name]: 0 } },
        ],
        [`${name} without a refresh token`, { ...SOUND, [name]: 60 }, { ...READ, vendorData: { [name]: 60 } }],
      ],
    ),
    ["scope null", { ...SOUND, scope: null }, READ],
    ["scope empty", { ...SOUND, scope: "" }, { ...READ, scope: [] }],
    ["scope with spaces", { ...SOUND, scope: " a  b a " }, { ...READ, scope: ["a", "b"] }],
    ["scope as a comma list", { ...SOUND, scope: "repo,gist" }, { ...READ, scope: ["repo", "gist"] }],
    ["scope as a comma list with spaces", { ...SOUND, scope: "repo, gist" }, { ...READ, scope: ["repo", "gist"] }],
    ["scope with a comma beside spaces", { ...SOUND, scope: "a,b c" }, { ...READ, scope: ["a,b", "c"] }],
    ["scope as an array", { ...SOUND, scope: ["a", "b"] }, { ...READ, scope: ["a", "b"] }],
    ["several scopes in one text of an array", { ...SOUND, scope: ["a b", "c"] }, { ...READ, scope: ["a", "b", "c"] }],
    [
      "further members that are null",
      { ...SOUND, error: null, ok: null, team: null },
      { ...READ, vendorData: { error: null, ok: null, team: null } },
    ],
    [
      "an error object that is none",
      { ...SOUND, error: { code: "ok" } },
      { ...READ, vendorData: { error: { code: "ok" } } },
    ],
    [
      "further members as they came",
      { ...SOUND, instance_url: "https://x", team: { id: 7 } },
      { ...READ, vendorData: { instance_url: "https://x", team: { id: 7 } } },
    ],
    ["an ID token of a vendor without issuer, which is dropped", { ...SOUND, id_token: "x.y.z" }, READ],
    ["an empty error member", { ...SOUND, error: "", errors: [] }, { ...READ, vendorData: { error: "", errors: [] } }],
    ["ok true", { ...SOUND, ok: true }, { ...READ, vendorData: { ok: true } }],
  ])("may have %s", async (_title, body, expected) => {
    expect(await read(body)).toEqual(expected);
  });

  it.each(["1e308", "1e400", "1e12"])("may have expires_in %s", async (number) => {
    expect(await read(`{"access_token":"a","expires_in":${number}}`)).toEqual(READ);
  });

  it("may have scope by the vendor's own separator", async () => {
    for (const [scope, scopeSeparator] of [
      ["a,b", ","],
      ["a+b", "+"],
      ["a, b", ","],
    ]) {
      expect(await read({ ...SOUND, scope }, { dialect: { scopeSeparator } })).toEqual({ ...READ, scope: ["a", "b"] });
    }
  });

  it.each(["application/json; charset=utf-8", "text/plain", "text/javascript", "application/vnd.x+json", ""])(
    "may be JSON under the name of %j",
    async (type) => {
      expect(await read(SOUND, { type })).toEqual(READ);
    },
  );

  it.each(["application/x-www-form-urlencoded", "text/plain"])("may be form-encoded, as %s", async (type) => {
    const body = "access_token=a&scope=repo%2Cgist&token_type=bearer&expires_in=28800&team=x";
    expect(await read(body, { type })).toEqual({
      ...READ,
      scope: ["repo", "gist"],
      expiresInSeconds: 28_800,
      vendorData: { team: "x" },
    });
  });

  it("may begin with a byte order mark", async () => {
    expect(await read(`\uFEFF${JSON.stringify(SOUND)}`)).toEqual(READ);
  });

  it("may come with status 201", async () => {
    expect(await read(SOUND, { status: 201 })).toEqual(READ);
  });

  it("V-70 may wrap the token set in one member, whose other members stay there", async () => {
    const body = {
      ok: true,
      authed_user: { id: "U1", access_token: "a", token_type: "user", scope: "x,y" },
      team: { id: "T1" },
    };
    const dialect = { tokenResponseMember: "authed_user", scopeSeparator: "," };
    expect(await read(body, { dialect })).toEqual({
      ...READ,
      scope: ["x", "y"],
      vendorData: { ok: true, authed_user: { id: "U1" }, team: { id: "T1" } },
    });
    expect(await read({ ok: true, ...SOUND }, { dialect })).toEqual({ ...READ, vendorData: { ok: true } });
  });
});

it.each<[string, string | object, { type?: string; status?: number }?]>([
  ["HTML", "<html>access_token=a</html>", { type: "text/html; charset=utf-8" }],
  ["HTML under another name", "<html></html>"],
  ["HTML as text, with a form in it", "<a href=x>access_token=a</a>", { type: "text/plain" }],
  ["a page with a form in it", "<p>&access_token=a&token_type=bearer&x=</p>", { type: "text/html" }],
  ["text as HTML", "You have been logged out", { type: "text/html" }],
  ["XML", "<token>a</token>", { type: "application/xml" }],
  ["nothing", ""],
  ["an array", [SOUND]],
  ["a string", '"a"'],
  ["half of it", '{"access_token":"a"'],
  ["two of it", '{"access_token":"a"}{"access_token":"b"}'],
  ["NaN", '{"access_token":"a","expires_in":NaN}'],
  ["no access_token", { token_type: "Bearer" }],
  ["an empty access_token", { access_token: "" }],
  ["a number as access_token", { access_token: 7 }],
  ["a line break in the access_token", { access_token: "a\r\nb" }],
  ["a number as refresh_token", { ...SOUND, refresh_token: 7 }],
  ["ok false without error", { ...SOUND, ok: false }],
  ["V-69 a member twice", '{"access_token":"a","access_token":"b"}'],
  ["V-69 a member twice, once with escapes", '{"access_token":"a","access\\u005ftoken":"b"}'],
  ["V-69 a member twice further down", '{"access_token":"a","team":{"id":1,"id":2}}'],
  ["V-69 a form parameter twice", "access_token=a&access_token=b", { type: "application/x-www-form-urlencoded" }],
  ["a 400 without error", { message: "no" }, { status: 400 }],
  ["a 400 with a success in it", SOUND, { status: 400 }],
  ["a 404 page", "not found", { status: 404, type: "text/plain" }],
  ["an empty body without a content type", "", { type: "" }],
])("bar#VR-7 vendor_response_invalid is the answer to %s", async (_title, body, options = {}) => {
  await expect(read(body, options)).rejects.toMatchObject(INVALID);
});

describe("bar#VR-7 a scope list", () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `s${index}`);

  it("may be long, and is read in one pass", async () => {
    expect((await read({ ...SOUND, scope: names(1000).join(" ") })).scope).toHaveLength(1000);
    expect((await read({ ...SOUND, scope: "ab ".repeat(80_000) })).scope).toEqual(["ab"]);
    expect((await read({ ...SOUND, scope: ["x".repeat(1024)] })).scope).toHaveLength(1);
  });

  it("may be of whole numbers", async () => {
    expect((await read({ ...SOUND, scope: [4, 12] })).scope).toEqual(["4", "12"]);
    expect(await read({ ...SOUND, scope: [0.5] })).toEqual({ ...READ, vendorData: { scope: [0.5] } });
  });

  it.each<[string, unknown]>([
    ["of 1,001", names(1001).join(" ")],
    ["of 1,001 in an array", names(1001)],
    ["of 30,000", names(30_000).join(",")],
    ["with a scope of 1,025 characters", "x".repeat(1025)],
    ["with an absurdly long scope", ["a", "x".repeat(200_000)]],
    ["that is a number", 7],
    ["that is false", false],
    ["that is an object", {}],
    ["of lists", [["a"]]],
    ["with a quote", 'a"b'],
    ["with JSON in a text", '["a"]'],
    ["with an umlaut", "gr\u00fcn"],
  ])("%s is left out, kept as it came, and reported", async (_title, scope) => {
    const onLesserAnswer = vi.fn<NonNullable<Reading["onLesserAnswer"]>>();
    expect(await read({ ...SOUND, scope }, { onLesserAnswer })).toEqual({ ...READ, vendorData: { scope } });
    expect(onLesserAnswer).toHaveBeenCalledOnce();
  });

  it("that can be read is reported to nobody", async () => {
    const onLesserAnswer = vi.fn<NonNullable<Reading["onLesserAnswer"]>>();
    for (const scope of ["a b", ["a b"], "", null, undefined]) await read({ ...SOUND, scope }, { onLesserAnswer });
    expect(onLesserAnswer).not.toHaveBeenCalled();
  });
});

describe("numbers of the vendor's", () => {
  it.each(["17841405822304915", "9007199254740993", "1e400", "1.0", "-0", "0.12345678901234567890"])(
    "keep their digits in vendor_data, within the token set too: %s",
    async (number) => {
      const body = `{"access_token":"a","expires_in":60.0,"user_id":${number},"deep":{"ids":[${number}]}}`;
      const { vendorData, expiresInSeconds } = await read(body);
      expect(JSON.stringify(vendorData)).toBe(`{"user_id":${number},"deep":{"ids":[${number}]}}`);
      expect(expiresInSeconds).toBe(60);
      const wrapped = await read(`{"data":[${body}]}`, { dialect: { tokenResponseMember: "data.0" } });
      expect(JSON.stringify(wrapped.vendorData)).toContain(`"user_id":${number}`);
    },
  );

  it("are numbers where they are read here", async () => {
    const dialect = { tokenResult: { member: "status", success: [0] }, tokenExpiry: { member: "at", unit: "seconds" } };
    const answer = await read('{"status":0.0,"access_token":"a","at":1700000060.0}', { dialect });
    expect(answer).toMatchObject({ expiresInSeconds: 60 });
    await expect(read('{"status":1.0,"access_token":"a"}', { dialect })).rejects.toMatchObject({
      extras: { vendorError: "1" },
    });
  });
});

describe("an answer that is refused while it is read", () => {
  const RENAMED = { dialect: { tokenResponseMember: "data", tokenResponseNames: { access_token: "accessToken" } } };

  it.each<[string, string, object, Options?]>([
    [
      "a member is there twice",
      '{"access_token":"a","refresh_token":"r","x":1,"x":2}',
      { accessToken: "a", refreshToken: "r" },
    ],
    ["the refresh token is no text", '{"access_token":"a","refresh_token":7}', { accessToken: "a" }],
    ["the access token is missing", '{"refresh_token":"r"}', { refreshToken: "r" }],
    ["a parameter is there twice", "access_token=a&refresh_token=r&x=1&x=2", { accessToken: "a", refreshToken: "r" }],
    ["the set is within another member", '{"data":{"accessToken":"a","id":1,"id":2}}', { accessToken: "a" }, RENAMED],
    ["it says ok: false", '{"ok":false,"access_token":"a"}', { accessToken: "a" }],
    ["nothing can be read", '{"access_token":"a"', {}],
    ["it is a page", "<html>", {}],
  ])("shows its tokens: %s", async (_title, body, seen, options = {}) => {
    const onRefused = vi.fn<(seen: object) => void>();
    await expect(read(body, { ...options, onRefused })).rejects.toMatchObject(INVALID);
    expect(onRefused.mock.calls).toEqual([[seen]]);
  });

  it.each<[string, string, object]>([
    [
      "beside tokens",
      '{"error":"invalid_grant","access_token":"a","refresh_token":"r"}',
      { accessToken: "a", refreshToken: "r" },
    ],
    ["in a form", "error=invalid_grant&refresh_token=r", { refreshToken: "r" }],
  ])("shows its tokens where it is an error in a 200: %s", async (_title, body, seen) => {
    const onRefused = vi.fn<(seen: object) => void>();
    await expect(read(body, { onRefused })).rejects.toMatchObject({ code: "invalid_grant" });
    expect(onRefused.mock.calls).toEqual([[seen]]);
  });

  it.each<[string, string | object, Options?]>([
    ["an error in a 200 without tokens", { error: "invalid_grant" }],
    ["a refusal by its status", SOUND, { status: 400 }],
    ["a redirect", SOUND, { status: 302 }],
  ])("is not %s", async (_title, body, options = {}) => {
    const onRefused = vi.fn<(seen: object) => void>();
    await expect(read(body, { ...options, onRefused })).rejects.toBeInstanceOf(OAuthError);
    expect(onRefused).not.toHaveBeenCalled();
  });
});
