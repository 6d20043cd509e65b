/** The sweep of questions over several users: one that cannot be ended keeps no other. */
import { Secret } from "@oauth-broker/oauth-core";
import type { TokenStore } from "@oauth-broker/token-store";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { openLinkingFixture } from "../../testing/linking/fixture.ts";
import { PENDING_SECONDS, type PendingTokens } from "./pending-tokens.ts";
import { sweepPendingTokens } from "./store-link.ts";

const fixture = ofEachTest(openLinkingFixture);

describe("a question that no user answered in time", () => {
  const ask = async (user: string, vendor = "chat") => {
    const [accessToken, refreshToken] = [new Secret(`access of ${user}`), new Secret(`refresh of ${user}`)];
    const details = { account: `account of ${user}`, linkedAt: 0, notGranted: [], lacked: {} };
    const tokens = { accessToken, refreshToken, tokenType: "Bearer", link: details };
    await fixture.deps.pendingTokens.ask({ user, vendor, linkVersion: 0, isOther: true, tokens }, user.padEnd(43, "A"));
  };
  const dueAt = async () => (await fixture.deps.pendingTokens.due()).map(({ vendor }) => vendor);

  it("leaves tokens of an unlisted vendor to a process that lists it, revokes others", async () => {
    await ask("one", "removed");
    await ask("two");
    await ask("three");
    fixture.clock.advance(PENDING_SECONDS);
    await fixture.sweep();
    expect([fixture.revocations("chat"), await dueAt()]).toEqual([2, ["removed"]]);
    expect(fixture.lines).toEqual([]);
  });

  it("and one that fails is logged with its vendor, and keeps no other", async () => {
    for (const user of ["one", "two", "three", "four"]) await ask(user);
    fixture.clock.advance(PENDING_SECONDS);
    const { deps } = fixture;
    const [, second] = await deps.pendingTokens.due();
    const takeDue: PendingTokens["takeDue"] = async (due) => {
      if (due.id === second?.id) throw new TypeError("it cannot be opened");
      return deps.pendingTokens.takeDue(due);
    };
    const readLink: TokenStore["readLink"] = async (key) => {
      if (key.user === "three") throw new TypeError("its link cannot be read");
      return deps.tokens.readLink(key);
    };
    await sweepPendingTokens({
      ...deps,
      pendingTokens: { ...deps.pendingTokens, takeDue },
      tokens: { ...deps.tokens, readLink },
    });
    expect([fixture.revocations("chat"), await dueAt()]).toEqual([2, ["chat"]]);
    const lines = fixture.lines.map((line) => JSON.parse(line) as object);
    expect(lines).toEqual(
      Array.from({ length: 2 }, () => expect.objectContaining({ event: "question_not_ended", vendor: "chat" })),
    );
  });

  it("waits for a store that is away", async () => {
    await ask("one");
    await ask("two");
    fixture.clock.advance(PENDING_SECONDS);
    fixture.down.add("records");
    await expect(fixture.sweep()).rejects.toMatchObject({ code: "temporarily_unavailable" });
    fixture.down.clear();
    await fixture.sweep();
    expect(fixture.revocations("chat")).toBe(2);
  });
});
