import { describe, expect, it } from "vitest";
import { shared } from "./egress-lookup.ts";

const ANSWER = [{ address: "8.8.8.8", family: 4 }];

describe("shared", () => {
  it("asks once for callers that come while the question is open, and anew afterwards", async () => {
    const asked: string[] = [];
    const release: (() => void)[] = [];
    const lookup = shared((host) => {
      asked.push(host);
      return new Promise((resolve) => release.push(() => resolve(ANSWER)));
    });
    const first = [lookup("a.example"), lookup("a.example"), lookup("b.example")];
    expect(asked).toEqual(["a.example", "b.example"]);
    for (const open of release) open();
    expect(await Promise.all(first)).toEqual([ANSWER, ANSWER, ANSWER]);
    void lookup("a.example");
    expect(asked).toEqual(["a.example", "b.example", "a.example"]);
  });

  it("does not keep a failure", async () => {
    let calls = 0;
    const lookup = shared(async () => {
      calls += 1;
      if (calls === 1) throw new Error("SERVFAIL");
      return ANSWER;
    });
    await expect(lookup("a.example")).rejects.toThrow("SERVFAIL");
    await expect(lookup("a.example")).resolves.toEqual(ANSWER);
  });
});
