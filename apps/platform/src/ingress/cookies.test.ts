/**
 * Cookies in both directions through a real ingress. e2e/attacks/ingress-cookies.attack.test.ts has
 * the attacks with cookies.
 */
import { connect } from "node:net";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { sendRaw, startIngress, type TestIngress } from "../testing/test-ingress.ts";

let ingress: TestIngress;
afterEach(() => ingress.close());

/** What the browser receives when the server sets these cookies. */
async function setBy(...setCookies: string[]): Promise<readonly string[]> {
  ingress = await startIngress((_, response) => response.writeHead(200, { "set-cookie": setCookies }).end());
  return (await sendRaw(ingress.url, { path: "/token" })).headers["set-cookie"] ?? [];
}

/** The Cookie headers that the server receives when the browser sends this one. */
async function seenOf(cookie: string): Promise<readonly string[]> {
  const seen: (readonly string[])[] = [];
  ingress = await startIngress((request, response) => {
    seen.push(request.headersDistinct.cookie ?? []);
    response.end();
  });
  await sendRaw(ingress.url, { path: "/token", headers: { cookie } });
  return seen[0] ?? expect.fail("no cookie was received");
}

describe("a cookie that the server sets", () => {
  it("gets the connector's name in front, and what browsers read in a name stays before it", async () => {
    const received = {
      a: "notes.a",
      "__Host-a": "__Host-notes.a",
      "__Secure-a": "__Secure-notes.a",
      "__Http-a": "__Http-notes.a",
      "__Host-Http-a": "__Host-Http-notes.a",
      "__host-a": "__host-notes.a",
      "__SECURE-a": "__SECURE-notes.a",
      "__Host-": "__Host-notes.",
    };
    const cookie = (name: string): string => `${name}=1; Path=/; Secure; HttpOnly`;
    expect(await setBy(...Object.keys(received).map(cookie))).toEqual(Object.values(received).map(cookie));
  });

  it("keeps its value and its attributes except Domain: it is for exactly this host", async () => {
    expect(
      await setBy(
        'quoted="a=b"; Max-Age=60; SameSite=Lax; Path=/x',
        "jwt=a.b.c==; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
        "empty=; Max-Age=0",
        "wide=1; Domain=example.com; Path=/",
        "wider=1;DOMAIN = .example.com;Domain;Secure",
        "my-domain=domain; X-Domain=kept",
        '"odd"\tname@{x}=1',
      ),
    ).toEqual([
      'notes.quoted="a=b"; Max-Age=60; SameSite=Lax; Path=/x',
      "notes.jwt=a.b.c==; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
      "notes.empty=; Max-Age=0",
      "notes.wide=1; Path=/",
      "notes.wider=1;Secure",
      "notes.my-domain=domain; X-Domain=kept",
      'notes."odd"\tname@{x}=1',
    ]);
  });

  it("does not pass without a name, or longer than browsers take", async () => {
    const value = "x".repeat(4096 - "notes.long".length);
    expect(
      await setBy("=platform-session=1", "platform-session", " =1", "; Path=/", "", `long=${value}x`, `long=${value}`),
    ).toEqual([`notes.long=${value}`]);
  });

  it("takes no other cookie away: a header that empties the host's jar does not pass", async () => {
    ingress = await startIngress((_, response) => response.writeHead(200, { "Clear-Site-Data": '"cookies"' }).end());
    expect((await sendRaw(ingress.url, { path: "/token" })).headers).not.toHaveProperty("clear-site-data");
  });
});

describe("a cookie that the browser sends", () => {
  it("reaches the server as it set it, and no other cookie does", async () => {
    const cookies = [
      "platform-session=p",
      "__Host-platform-session=p",
      "notes.a=1",
      "__Host-notes.b=2",
      "__secure-notes.c=3",
      "other.a=4",
      "notes-2.a=5",
      "Notes.a=6",
      "note.s.a=7",
      "a=8",
      'notes.q="x=y"',
      "notes.empty=",
      "notes.a=again",
    ];
    expect(await seenOf(cookies.join("; "))).toEqual(['a=1; __Host-b=2; __secure-c=3; q="x=y"; empty=; a=again']);
  });

  it.each([
    "notes.__Host-a=planted",
    "notes.__Secure-a=planted",
    "notes.__host-a=planted",
    "__Host-notes.Http-a=planted",
    "__Secure-__Host-notes.a=planted",
    "notes.=planted",
    "notes=planted",
    "notes.a",
    "=notes.a=planted",
    "platform-session=p; __Host-platform-session=p",
    "",
    ";;= ;",
  ])("of %j no cookie reaches the server, and no empty header either", async (cookie) => {
    expect(await seenOf(cookie)).toEqual([]);
  });

  it("is the one that was set, whatever its name", async () => {
    const names = [
      "a",
      "a.b",
      ".a",
      "notes.a",
      "__Host-a",
      "__Host-notes.a",
      "__Secure-__Host-a",
      "__Host-Http-a",
      '"a"',
    ];
    const set = await setBy(...names.map((name) => `${name}=1; Path=/; Secure`));
    await ingress.close();
    const sent = set.map((header) => header.replace(/;.*/, ""));
    expect(await seenOf(sent.join("; "))).toEqual([names.map((name) => `${name}=1`).join("; ")]);
  });

  it("is separated from others when a client sends two headers", async () => {
    const seen: (string | undefined)[] = [];
    ingress = await startIngress((request, response) => {
      seen.push(request.headers.cookie);
      response.end();
    });
    const { host, hostname, port } = new URL(ingress.url);
    const socket = connect(Number(port), hostname);
    const lines = ["GET /token HTTP/1.1", `Host: ${host}`, "Cookie: notes.a=1", "Cookie: platform-session=p"];
    socket.end(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
    await once(socket.resume(), "close");
    expect(seen).toEqual(["a=1"]);
  });
});
