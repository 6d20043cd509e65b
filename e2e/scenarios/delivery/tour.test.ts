/**
 * `npm run tour` and docs/tour.md: runs the command, performs every step of the page in a real
 * browser, and checks that both have the same steps. `SCREENSHOTS=docs npm test -- tour` lets it make the
 * pictures of the page again.
 */
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { listen, volume } from "@oauth-broker/oauth-core/testing";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, connectChromium, takeScreenshot } from "../../support/chromium.ts";
import { freePort } from "../../support/free-port.ts";
import { ROOT } from "../../support/paths.ts";
import { type Actor, openActor } from "../../support/reference-platform/actor.ts";
import { runService, type ServiceProcess, startService, temporaryFolder } from "../../support/service-process.ts";
import { startTour } from "../../tour/tour.ts";

const WIDTH = 1280;
const HEIGHT = 960;
const PAGE = readFileSync(join(ROOT, "docs", "tour.md"), "utf8");

const TOUR = { name: "tour", file: join(ROOT, "e2e", "tour", "main.ts") };

async function expectNobodyListens(said: string): Promise<void> {
  const addresses = Array.from(said.matchAll(/http:\/\/127\.0\.0\.1:\d+/g), ([address]) => address);
  expect(addresses.length).toBeGreaterThan(0);
  await Promise.all(addresses.map((address) => expect(fetch(address)).rejects.toThrow("fetch failed")));
}

describe("npm run tour", () => {
  let tour: ServiceProcess;
  beforeAll(async () => {
    tour = await startService(TOUR);
  });
  afterAll(async () => {
    tour.signal("SIGTERM");
    await tour.exited();
  });

  it("says what to open and the steps of docs/tour.md, in its words", () => {
    const said = tour.stderr();
    expect(said).toContain(`Open  ${tour.url}`);
    const headings = [...PAGE.matchAll(/^## (\d+)\. (.*)$/gm)].map(([, number, text]) => `${number}  ${text}`);
    expect(headings.length).toBeGreaterThan(4);
    for (const heading of headings) expect(said).toContain(heading);
  });

  describe.skipIf(CHROMIUM === undefined)("in Chromium", () => {
    let browser: Browser;
    let actor: Actor;
    let page: Page;
    const clicked: string[] = [];

    beforeAll(async () => {
      browser = await connectChromium();
      const screen = { viewport: { width: WIDTH, height: HEIGHT }, colorScheme: "light" } as const;
      actor = await openActor(browser, tour.url, screen);
      ({ page } = actor);
    });
    afterAll(() => browser.close());

    const button = async (name: string): Promise<void> => {
      clicked.push(name);
      await page.getByRole("button", { name }).first().click();
    };
    const link = async (name: string): Promise<void> => {
      clicked.push(name);
      await page.getByRole("link", { name, exact: true }).click();
    };
    const sees = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
    const connected = (): Promise<void> => page.getByText("Connected", { exact: true }).first().waitFor();
    const picture = async (name: string): Promise<void> => {
      expect(PAGE).toContain(`(tour/${name}.png)`);
      // Down to the end of the page when there is nothing below it, otherwise what a window shows
      // of it.
      const end = (await page.evaluate("document.querySelector('main').getBoundingClientRect().bottom")) as number;
      const clip = { x: 0, y: 0, width: WIDTH, height: Math.min(Math.ceil(end) + 32, HEIGHT) };
      await takeScreenshot(page, `tour/${name}`, { clip });
    };

    it("every step of docs/tour.md leads to the next", async () => {
      await page.goto(tour.url);
      await button("First user");
      await picture("connectors");

      await link("hosted-server");
      await button("Connect");
      await button("Sample user");
      await picture("consent");
      await button("Cancel");
      await sees("access_denied");
      await picture("cancelled");

      await button("Connect");
      await button("Allow");
      await connected();
      await link("Try");
      await page.getByLabel("Tool").selectOption("whoami");
      await button("Call the tool");
      await sees(/"login": "sample-user"/);
      await picture("answer");

      await link("All connectors");
      await link("brokered-server");
      await button("Connect");
      await button("Sample user");
      await button("Allow");
      await connected();
      await picture("through-the-broker");
      await link("Try");
      await page.getByLabel("Tool").selectOption("whoami");
      await button("Call the tool");
      await sees(/"user": "Sample user"/);

      await link("All connectors");
      await link("linking-server");
      await button("Connect");
      await button("Continue to GitHub");
      await button("Sample user");
      await button("Allow");
      await connected();
      // The browser stores cookies per host, whatever the port.
      const names = (await page.context().cookies(tour.url)).map(({ name }) => name);
      const [session, ofServer] = [/^platform-session-/, /^linking-server\./].map((name) =>
        expect.stringMatching(name),
      );
      expect(names).toEqual(expect.arrayContaining([session, ofServer]));
      expect(await actor.callTool("whoami")).toContain('"sample-user"');
      await actor.follow("Connection");
      await link("Try");
      await page.getByLabel("Tool").selectOption("account_at_slack");
      await button("Call the tool");
      await sees("is waiting for you");
      await picture("asked");
      const first = page;
      const address = page.getByRole("link", { name: /\/connect\// });
      [page] = await Promise.all([page.context().waitForEvent("page"), address.click()]);
      await button("Allow");
      await button("Continue to Slack");
      await button("Sample user");
      await button("Allow");
      await sees("Slack is connected.");
      await picture("linked");
      await page.close();
      page = first;
      await button("Try again");
      await sees("Answer of account_at_slack");
      expect(await page.getByRole("status").textContent()).toContain("Sample user");
      // The link is the user's, not the session's: the next connection finds it.
      await actor.follow("Connection");
      expect(await actor.callTool("account_at_slack")).toContain("Sample user");

      await button("Sign out");
      await button("Administrator");
      await link("brokered-server");
      await link("Settings");
      expect(await page.getByLabel("Registration").inputValue()).toBe("broker");
      await picture("settings");

      const named = [...PAGE.matchAll(/\*\*(.+?)\*\*/g)].map(([, name]) => name);
      expect(named).toEqual(clicked);
      expect(actor.complaints).toEqual([]);
    });
  });

  it("ends as a whole if a part ends, prints its last output, and leaves nothing", async () => {
    const data = /Data\s+(\S+),/.exec(tour.stderr())?.[1] ?? "";
    const log = readFileSync(join(data, "platform-data", "servers", "hosted-server", "server.log"), "utf8");
    process.kill(Number(/"pid":(\d+)/.exec(log)?.[1]), "SIGKILL");
    expect(await tour.exited()).toBe(1);
    expect(tour.stderr()).toMatch(/deploy of hosted-server ended with 1[^]*The server ended by itself with code/);
    expect(existsSync(data)).toBe(false);
    await expectNobodyListens(tour.stderr());
  });
});

describe("npm run tour, not to its end", () => {
  it.each(volume({ test: [], soak: ["starts"] }))("is stopped while it %s, and leaves no process behind", async () => {
    const stopped = Promise.withResolvers<undefined>();
    let said = "";
    const say = (text: string): void => {
      said += text;
      if (text.includes("✓")) stopped.resolve(undefined);
    };
    const options = { folder: temporaryFolder(), port: await freePort(), stopped: stopped.promise };
    expect(await startTour(options, say)).toBeUndefined();
    await expectNobodyListens(said);
  });

  it("names a port that is taken, and starts nothing", async () => {
    const { port, close } = await listen(createServer());
    const run = (...args: string[]) => runService({ ...TOUR, folder: temporaryFolder() }, ...args);
    const taken = await run("--port", String(port));
    await close();
    expect(taken).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(`^Port ${port} is in use: .*\n$`) });
    expect(await run("--port", "70000")).toMatchObject({ code: 2, stdout: "" });
    expect(await run("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("--port N"), stderr: "" });
  });
});
