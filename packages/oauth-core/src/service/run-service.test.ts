import { describe, expect, it } from "vitest";
import { OAuthError } from "../protocol/errors.ts";
import { explainStartFailure } from "./run-service.ts";

describe("why a service could not start", () => {
  const systemError = (code: string): Error => Object.assign(new Error(`listen ${code}`), { code, port: 80 });

  it.each([
    ["a port in use", systemError("EADDRINUSE"), /^Port 80 is in use\. .*PORT=8790/],
    ["a port that needs rights", systemError("EACCES"), /^Not allowed to listen on port 80: choose one above 1023/],
    ["any other error", new Error("The disk is full"), /^The disk is full$/],
    ["no error at all", "odd", /^The broker could not start\.$/],
  ])("is said for %s", (_, error, sentence) => {
    expect(explainStartFailure(error, "The broker")).toMatch(sentence);
  });

  it("names what the operator can do, which callers do not see", () => {
    const detail = "there is no table tokens: create it";
    const error = new OAuthError("temporarily_unavailable", "The record store does not answer", { detail });
    expect(explainStartFailure(error, "The server")).toBe(`The record store does not answer: ${detail}`);
    const bare = new OAuthError("temporarily_unavailable", "The record store does not answer");
    expect(explainStartFailure(bare, "The server")).toBe("temporarily_unavailable: The record store does not answer");
  });
});
