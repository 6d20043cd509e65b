/**
 * What a tool returned, made fit to leave: as JSON that every parser reads. Authors' code is not
 * checked by the compiler alone, and a vendor's document is returned as it came. Called by
 * ../run-tool.ts.
 */
import { type CallToolResult, isCallToolResult } from "@modelcontextprotocol/server";
import type { JsonValue } from "@oauth-broker/oauth-core";
import { z } from "zod";
import { isToolResult } from "../../tool.ts";

/** For a tool that only does something: its vendor's API may answer 204. */
const NOTHING = "Done. The tool has no answer.";

/**
 * @param outputSchema of the tool, if it has one: JSON is then structured content too
 * @throws TypeError for what JSON cannot say: a function, a symbol, an object that contains itself,
 *   and one of which it would show nothing, as of a Response, a Map or a Promise within it; and for
 *   what is not of the schema
 */
export async function toResult(answer: unknown, outputSchema?: z.ZodObject): Promise<CallToolResult> {
  const result = resultOf(answer, outputSchema !== undefined);
  if (outputSchema === undefined || result.isError === true) return result;
  const { success, error } = await outputSchema.safeParseAsync(result.structuredContent);
  if (success) return result;
  throw new TypeError(`the tool returned what is not of its outputSchema:\n${z.prettifyError(error)}`);
}

function resultOf(answer: unknown, isStructured: boolean): CallToolResult {
  if (answer === undefined) return textResult(NOTHING);
  if (typeof answer === "string") return textResult(answer.toWellFormed());
  const fit = fitJson(answer);
  if (isToolResult(answer) || isPlainResult(answer)) return fit as CallToolResult;
  const text = textResult(JSON.stringify(fit, undefined, 2));
  return isStructured ? { ...text, structuredContent: fit } : text;
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

/**
 * A tool may return a vendor's document as it came, and that must not act in this server's name:
 * ask the user for something, or name one of the protocol's own members. `toolResult` says that it
 * may.
 */
function isPlainResult(answer: unknown): boolean {
  return isCallToolResult(answer) && Object.keys(answer).every((member) => PLAIN_MEMBERS.has(member));
}

const PLAIN_MEMBERS: ReadonlySet<string> = new Set(["content", "structuredContent", "isError"]);

/** A bigint becomes its digits, as text: a number of JSON would lose some. */
function fitJson(value: unknown): JsonValue {
  const json = JSON.stringify(value, (name, member: unknown) => {
    if (typeof member === "bigint") return String(member);
    // Within an answer that shows something, only what cannot be meant.
    if (isUnseen(member) && (name === "" || member instanceof Promise))
      throw new TypeError(`the tool returned a ${member.constructor.name}, which JSON shows as {}`);
    return member;
  }) as string | undefined;
  if (json === undefined) throw new TypeError(`the tool returned a ${typeof value}`);
  return JSON.parse(replaceHalfPairs(json)) as JsonValue;
}

/** An object of a class that has no members: what it holds is elsewhere. */
function isUnseen(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Object.keys(value).length > 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null && !Array.isArray(value);
}

/**
 * `JSON.stringify` escapes half of a surrogate pair, and nothing else as `\uD…`: parsers of other
 * languages refuse such a text as a whole.
 */
function replaceHalfPairs(json: string): string {
  return json.replace(/\\(?:u(d[89a-f][\da-f]{2})|.)/g, (escape, half: string | undefined) =>
    half === undefined ? escape : "\\ufffd",
  );
}
