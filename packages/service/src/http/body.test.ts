/** Bodies of requests, read from a web request and from a socket: the two have readers of their own. */
import { Readable } from "node:stream";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toOAuthError } from "@oauth-broker/oauth-core";
import { type Listening, listen } from "../serve.ts";
import { errorAnswer, jsonAnswer } from "@oauth-broker/oauth-core/http";
import { readForm } from "./body.ts";

const app = new Hono();
app.post("/", async (c) => {
  const read = readForm(c, { bodyBytes: 64 }).then((form) => jsonAnswer(200, form.names()));
  const { body, ...init } = await read.catch((error: unknown) => errorAnswer(toOAuthError(error)));
  return new Response(body, init);
});

let server: Listening;
beforeAll(async () => {
  server = await listen(app, { host: "127.0.0.1", port: 0 });
});
afterAll(() => server.stop(0));

const FORM = "application/x-www-form-urlencoded";
const endless = (): ReadableStream => new Blob(["x=".padEnd(65, "a")]).stream();

describe.each<[string, (init: RequestInit) => Response | Promise<Response>]>([
  ["a web request", (init) => app.request("/", init)],
  ["a socket", (init) => fetch(`http://127.0.0.1:${server.port}/`, init)],
])("a form from %s", (_name, send) => {
  const post = async (type: string, body: NonNullable<RequestInit["body"]>) => {
    // `duplex` is what fetch requires beside a stream.
    const answer = await send({ method: "POST", headers: { "content-type": type }, body, duplex: "half" });
    return [answer.status, await answer.json()];
  };

  it.each([FORM, 'Application/X-WWW-Form-Urlencoded; charset="UTF-8"', `${FORM};charset=utf-8`])(
    "bar#HT-2 is read as %s",
    async (type) => {
      expect(await post(type, "a=1&b=2")).toEqual([200, ["a", "b"]]);
    },
  );

  it.each(["application/json", "multipart/form-data; boundary=x", "text/plain", `${FORM}; charset=iso-8859-1`])(
    "bar#HT-2 is refused as %s",
    async (type) => {
      expect(await post(type, "a=1")).toEqual([415, expect.objectContaining({ error: "invalid_request" })]);
    },
  );

  it.each([
    ["identity", 200],
    ["gzip", 415],
    ["identity, br", 415],
    ["", 200],
  ])("rfc9110#8.4 in the coding '%s' is answered with %i", async (coding, status) => {
    const headers = { "content-type": FORM, "content-encoding": coding };
    expect((await send({ method: "POST", headers, body: "a=1" })).status).toBe(status);
  });

  it.each<[string, number, () => NonNullable<RequestInit["body"]>]>([
    ["that is not UTF-8", 400, () => new Uint8Array([0x61, 0x3d, 0xff, 0xfe])],
    ["over the limit by its length", 413, () => "x=".padEnd(65, "a")],
    ["over the limit without a length", 413, endless],
  ])("bar#HT-1 is refused %s", async (_what, status, body) => {
    expect(await post(FORM, body())).toEqual([status, expect.objectContaining({ error: "invalid_request" })]);
  });
});

describe("a body in chunks of one byte", () => {
  const large = new Hono().post("/", async (c) =>
    readForm(c, { bodyBytes: 100_000 }).then(
      () => c.text("read"),
      (error: Error) => c.text(error.message, 400),
    ),
  );
  const post = async (body: Readable, env?: object): Promise<string> => {
    const web = env === undefined ? { body: Readable.toWeb(body) as ReadableStream } : {};
    const init = { method: "POST", headers: { "content-type": FORM }, duplex: "half" as const, ...web };
    return (await large.request("/", init, env)).text();
  };
  // As objects, so that a stream does not join them.
  const byByte = (count: number): Readable =>
    Readable.from(
      Array.from({ length: count }, () => Buffer.from("a")),
      { objectMode: true },
    );

  it("bar#HT-1 is read up to 256 of them and refused beyond, from sockets and web requests", async () => {
    const refused = expect.stringContaining("too many chunks") as string;
    expect([await post(byByte(256)), await post(byByte(258))]).toEqual(["read", refused]);
    const [few, many] = [byByte(256), byByte(60_000)];
    expect(await post(few, { incoming: few })).toBe("read");
    expect(await post(many, { incoming: many })).toEqual(refused);
    // No more of it is taken in.
    expect([many.listenerCount("data"), many.isPaused()]).toEqual([0, true]);
  });
});
