import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCookieJar } from "./cookie-jar.ts";
import { driveConsent } from "./drive-consent.ts";
import { listen, type Listening } from "./listen.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let site: Listening;
let seen: string[];
let handler: Handler;

beforeEach(async () => {
  seen = [];
  site = await listen(0);
  site.server.on("request", (request, response) => {
    void text(request).then((body) => {
      seen.push(`${request.method} ${request.url}${body === "" ? "" : ` ${body}`}`);
      return handler(request, response, body);
    });
  });
});
afterEach(() => site.close());

const stopAt = (url: URL): boolean => url.pathname === "/end";
const redirect = (
  response: ServerResponse,
  status: number,
  location: string,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { Location: location, ...headers }).end();
};
const page = (response: ServerResponse, body: string): void => {
  response.writeHead(200, { "Content-Type": "text/html" }).end(body);
};

describe("driveConsent", () => {
  it("answers the first matching address without requesting it", async () => {
    handler = (_request, response) => redirect(response, 302, "/end?code=1");
    expect((await driveConsent(`${site.url}/start`, { stopAt })).href).toBe(`${site.url}/end?code=1`);
    expect(seen).toEqual(["GET /start"]);
  });

  it("requests nothing when the start already matches", async () => {
    expect((await driveConsent(`${site.url}/end`, { stopAt })).pathname).toBe("/end");
    expect(seen).toEqual([]);
  });

  it("sends hidden members and one button, then follows the 303 with GET and the cookie", async () => {
    handler = (request, response) => {
      if (request.url === "/start") {
        page(
          response,
          `<form method="POST" action="/do"><input type="hidden" name="csrf" value="a&amp;&quot;b"><button name="decision" value="approve">Yes</button><button name="decision" value="deny">No</button></form>`,
        );
      } else if (request.url === "/do") redirect(response, 303, "/next", { "Set-Cookie": "flow=1; Path=/" });
      else redirect(response, 303, `/end?cookie=${request.headers.cookie}`);
    };
    const end = await driveConsent(`${site.url}/start`, { stopAt });
    expect(seen).toEqual(["GET /start", "POST /do csrf=a%26%22b&decision=approve", "GET /next"]);
    expect(end.searchParams.get("cookie")).toBe("flow=1");
  });

  it("presses deny where a page has it, and approves a page that has no cancel", async () => {
    handler = (request, response, body) => {
      if (request.method === "POST") redirect(response, 303, `/end?${body}`);
      else
        page(
          response,
          `<form method="post"><button name="decision" value="approve">Yes</button><button name="decision" value="deny">No</button></form>`,
        );
    };
    expect((await driveConsent(`${site.url}/start`, { stopAt, decision: "deny" })).search).toBe("?decision=deny");
    expect((await driveConsent(`${site.url}/start`, { stopAt, decision: "cancel" })).search).toBe("?decision=approve");
  });

  it("repeats the form on 307 and posts a page that posts itself", async () => {
    handler = (request, response) => {
      if (request.url === "/start")
        page(
          response,
          `<form method="post" action="/a"><input type="hidden" name="code" value="1"/></form><script>submit()</script>`,
        );
      else if (request.url === "/a") redirect(response, 307, "/b");
      else redirect(response, 303, "/end");
    };
    await driveConsent(`${site.url}/start`, { stopAt });
    expect(seen).toEqual(["GET /start", "POST /a code=1", "POST /b code=1"]);
  });

  it("uses the given browser", async () => {
    const cookieJar = createCookieJar();
    cookieJar.store(new URL(site.url), ["known=1"]);
    handler = (request, response) => redirect(response, 303, `/end?${request.headers.cookie}`);
    expect((await driveConsent(`${site.url}/start`, { stopAt, cookieJar })).search).toBe("?known=1");
  });

  it("stops at an error page and says which, without the query", async () => {
    handler = (_request, response) => response.writeHead(400).end("no");
    const failed = driveConsent(`${site.url}/start?code=secret`, { stopAt });
    await expect(failed).rejects.toMatchObject({
      message: `${site.url}/start answered 400`,
      cause: { status: 400, body: "no" },
    });
  });

  it("stops at a page without a form", async () => {
    handler = (_request, response) => page(response, "<p>done</p>");
    await expect(driveConsent(`${site.url}/start`, { stopAt })).rejects.toThrow("no form");
  });

  it("gives up after 30 steps", async () => {
    handler = (_request, response) => redirect(response, 303, "/again");
    await expect(driveConsent(`${site.url}/start`, { stopAt })).rejects.toThrow("30 steps");
    expect(seen).toHaveLength(30);
  });
});
