/**
 * Flows that move from process to process, and continue while an operator rotates the keys: for
 * every shared store.
 */
import { createCookieJar } from "@oauth-broker/simulators";
import { expect } from "vitest";
import { browse } from "../broker/platform.ts";
import type { RaceHarness } from "./harness.ts";

/** Another process at each leg. */
export async function expectFlowOverProcesses({ platform, at, url }: RaceHarness): Promise<void> {
  const pushed = await platform.push();
  const jar = createCookieJar();
  const left = await browse(at(1, platform.authorizeUrl(pushed)), jar);
  const sentBack = await browse(left.headers.get("location") ?? "");
  const returned = await browse(at(2, sentBack.headers.get("location") ?? ""), jar);
  const code = new URL(returned.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const form = platform.redeemForm({ code, codeVerifier: pushed.codeVerifier });
  const answer = await platform.post("/v1/token", form, url(3));
  expect(answer.status, answer.text).toBe(200);
}

/**
 * `keys rotate` while one flow is on each leg: all of them finish, at another process than they
 * began.
 */
export async function expectFlowsOverRotation({ platform, at, url, command }: RaceHarness): Promise<void> {
  const pushed = await platform.push();
  const [first, second] = [await platform.toCallback(), await platform.toPlatform()];
  const rotated = await command("keys", "rotate");
  expect(rotated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^New key [\w-]+, used from /) });
  const listed = await command("keys", "list");
  const states = listed.stdout
    .trim()
    .split("\n")
    .map((line) => line.split("  ").at(-1));
  expect(states).toEqual(["in use", "waiting"]);

  expect((await browse(at(1, platform.authorizeUrl(pushed)))).status).toBe(303);
  const returned = await browse(at(1, first.callback), first.jar);
  const code = new URL(returned.headers.get("location") ?? "").searchParams.get("code") ?? "";
  for (const flow of [{ ...first, code }, second]) {
    const answer = await platform.post("/v1/token", platform.redeemForm(flow), url(1));
    expect(answer.status, answer.text).toBe(200);
  }
}
