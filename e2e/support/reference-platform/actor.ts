/**
 * A user at the platform's pages, in their own browser window: what they click there, at the broker
 * and at the vendor. Plants the codes that pass through, and records the browser's errors for the
 * test.
 */
import type { Browser, BrowserContextOptions } from "playwright-core";
import { openPage } from "../pages/open-page.ts";

/** Fields with a choice; the others are text. */
const CHOICES: ReadonlySet<string> = new Set(["Authentication", "Registration"]);

export type Actor = Awaited<ReturnType<typeof openActor>>;
/** @param platform its URL, without a trailing slash */
export async function openActor(browser: Browser, platform: string, options: BrowserContextOptions = {}) {
  const { context, page, complaints } = await openPage(browser, { isRefused: true, ...options });

  const click = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const follow = (name: string) => page.getByRole("link", { name, exact: true }).click();
  const open = async (connector: string) => {
    await page.goto(`${platform}/connectors`);
    await follow(connector);
  };
  return {
    page,
    /** Errors of the browser, on any page. */
    complaints,
    /** @param user as the chooser names them */
    signIn: async (user: string) => {
      await page.goto(platform);
      await click(user);
      await page.getByRole("heading", { name: "Connectors" }).waitFor();
    },
    click,
    follow,
    sees: (text: string | RegExp) => page.getByText(text).first().waitFor(),
    /** Opens the user's page of that connector from the list of all. */
    open,
    /** By the label of each field, then Save. */
    saveSettings: async (connector: string, fields: Readonly<Record<string, string>>) => {
      await open(connector);
      await follow("Settings");
      for (const [label, value] of Object.entries(fields)) {
        const field = page.getByLabel(label, { exact: true });
        await (CHOICES.has(label) ? field.selectOption(value) : field.fill(value));
      }
      await click("Save");
      await page.getByText("Saved.").waitFor();
    },
    /** Answers the vendor's pages, until the browser is back at the platform. */
    answerVendor: async (decision: "Allow" | "Cancel" = "Allow") => {
      const asked = page.getByRole("button", { name: new RegExp(`^${decision}`) });
      const actor = page.getByRole("button", { name: /Sample user/ });
      await asked.or(actor).first().waitFor();
      if ((await actor.count()) > 0) await actor.first().click();
      await asked.click();
      await page.waitForURL((url) => url.origin === platform);
    },
    /**
     * On a connector's page.
     * @returns the text of the answer
     */
    callTool: async (tool = "whoami") => {
      await follow("Try");
      await page.getByLabel("Tool").selectOption(tool);
      await click("Call the tool");
      return (await page.getByRole("status").textContent()) ?? "";
    },
    leave: () => context.close(),
  };
}
