import type { InputRequiredResult } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { answersTo, askedInResult, askedInError, checkUrl, MAX_QUESTIONS } from "./link-question.ts";

const resultOf = (inputRequests: unknown, requestState?: string): InputRequiredResult =>
  ({ resultType: "input_required", inputRequests, requestState }) as unknown as InputRequiredResult;
const urlQuestion = (url: unknown, message: unknown = "Link it") => ({
  method: "elicitation/create",
  params: { mode: "url", message, url },
});

describe("a URL of a server", () => {
  it.each([
    ["https://server.example/connect/abc", "https://server.example/connect/abc", "server.example"],
    ["https://server.example:8443/c?d=e#f", "https://server.example:8443/c?d=e#f", "server.example:8443"],
    ["HTTPS://SERVER.example/a", "https://server.example/a", "server.example"],
    ["http://127.0.0.1:8080/connect/abc", "http://127.0.0.1:8080/connect/abc", "127.0.0.1:8080"],
    ["http://localhost:8080/c", "http://localhost:8080/c", "localhost:8080"],
    ["http://[::1]:8080/c", "http://[::1]:8080/c", "[::1]:8080"],
  ])("is offered, with its host: %s", (text, href, host) => {
    expect(checkUrl(text)).toEqual({ href, host, isMarked: false });
  });

  it.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "java\nscript:alert(1)",
    " \u0001javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "blob:https://server.example/1",
    "ftp://server.example/",
    "about:blank",
    "intent://scan/#Intent;scheme=https;end",
    "view-source:https://server.example/",
    "http://server.example/connect",
    "http://127.0.0.1.server.example/",
    "http://localhost.server.example/",
    "http://192.168.0.1/",
    "http://[::ffff:8.8.8.8]/",
    "https://github.com@server.example/",
    "https://user:password@server.example/",
    "https://:password@server.example/",
    "https:\\\\github.com@server.example\\",
    "//server.example/connect",
    "/connect",
    "https://",
    "https://server.example:99999/",
    "",
    `https://server.example/${"a".repeat(2048)}`,
    undefined,
    null,
    42,
    { toString: () => "https://server.example/" },
    ["https://server.example/"],
  ])("mcp-2026-07-28/elicitation#safe-url-handling is not offered: %j", (text) => {
    expect(checkUrl(text)).toEqual({ refused: expect.any(String) });
  });

  it.each([
    "https://xn--e1awd7f.com/",
    "https://a.XN--80ak6aa92e.com/",
    "https://аррӏе.com/",
    "https://ｇithub.xn--p1ai/",
  ])("mcp-2026-07-28/elicitation#safe-url-handling is marked: %s", (text) => {
    expect(checkUrl(text)).toMatchObject({ isMarked: true, host: expect.stringContaining("xn--") });
  });
});

describe("the questions of a server", () => {
  it("are its own words without what reorders or hides text, and not all it has", () => {
    const message = `a\u202Eb\u200Bc\nd${"e".repeat(9000)}`;
    const { questions } = askedInResult(resultOf({ "gi\u202Ethub": urlQuestion("https://a.example/", message) }));
    expect(questions[0]).toMatchObject({ key: "gi\u202Ethub", about: "gi thub" });
    expect(questions[0]?.message).toMatch(/^a b c d(?:e){493}$/);
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`v${n}`, urlQuestion("https://a.example/")]));
    expect(askedInResult(resultOf(many)).questions).toHaveLength(MAX_QUESTIONS);
    expect(askedInError(Array.from({ length: 20 }, () => ({ url: "https://a.example/" }))).questions).toHaveLength(
      MAX_QUESTIONS,
    );
  });

  it("without one are a server that needs time, and keep its state as it is", () => {
    const state = 'st"ate \u202E of any form';
    expect(askedInResult(resultOf(undefined, state))).toEqual({
      questions: [],
      takesAnswers: true,
      requestState: state,
    });
  });

  it.each([
    ["a form", { method: "elicitation/create", params: { mode: "form", message: "Your password?" } }],
    ["a form without mode", { method: "elicitation/create", params: { message: "Your password?" } }],
    ["the model", { method: "sampling/createMessage", params: {} }],
    ["the file system", { method: "roots/list" }],
    ["nothing", {}],
  ])("are refused when one asks for %s", (_what, request) => {
    const good = urlQuestion("https://a.example/");
    expect(() => askedInResult(resultOf({ good, bad: request }))).toThrow(
      expect.objectContaining({ code: "vendor_response_invalid" }),
    );
  });

  it("are refused with a name or a state of absurd length, and as no list", () => {
    for (const ask of [
      () => askedInResult(resultOf({ ["k".repeat(129)]: urlQuestion("https://a.example/") })),
      () => askedInResult(resultOf({}, "s".repeat(65_537))),
      () => askedInError("https://a.example/"),
    ]) {
      expect(ask).toThrow(expect.objectContaining({ code: "vendor_response_invalid" }));
    }
    expect(askedInError([undefined, null, 7]).questions).toHaveLength(3);
  });
});

it("an answer accepts no URL that was not offered", () => {
  const { questions } = askedInResult(
    resultOf({ good: urlQuestion("https://a.example/"), bad: urlQuestion("javascript:alert(1)") }),
  );
  expect(answersTo(questions, "accept")).toEqual({ good: { action: "accept" }, bad: { action: "cancel" } });
  expect(answersTo(questions, "decline")).toEqual({ good: { action: "decline" }, bad: { action: "decline" } });
});
