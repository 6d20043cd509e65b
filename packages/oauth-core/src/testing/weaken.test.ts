import { expect, it } from "vitest";
import * as again from "../protocol/index.ts";
import { deriveCodeChallenge, verifyCodeVerifier } from "../protocol/pkce.ts";
import { weaken } from "./weaken.ts";

const WRONG = ["v".repeat(43), deriveCodeChallenge("w".repeat(43))] as const;

it("replaces a function for all that import it, whichever module names it", () => {
  weaken(again, () => ({ verifyCodeVerifier: () => {} }));
  expect(() => verifyCodeVerifier(...WRONG)).not.toThrow();
});

it("leaves it as it was to the next test", () => {
  expect(() => verifyCodeVerifier(...WRONG)).toThrow("code_verifier does not match");
});

it("refuses what no module here declares, which it could not replace", () => {
  expect(() => weaken({ notHere: () => 1 }, () => ({ notHere: () => 2 }))).toThrow("declares notHere");
});
