/** The members of a request body, from a form or from a JSON object, and answers in JSON. */
import type { Context } from "hono";
import type { VendorEnv } from "./simulator.ts";

export type Members = ReturnType<typeof membersOf>;

export async function readMembers(c: Context<VendorEnv>): Promise<Members> {
  const encoding = encodingOf(c.req.header("Content-Type"));
  const text = encoding === "none" ? "" : await c.req.text();
  return membersOf(encoding, encoding === "json" ? jsonEntries(text) : [...new URLSearchParams(text)]);
}

export function queryMembers(c: Context<VendorEnv>): Members {
  return membersOf("form", [...new URL(c.req.url).searchParams]);
}

/** Never to be cached, as RFC 6749 5.1 asks of token answers. */
export function json(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store", Pragma: "no-cache", ...headers } });
}

/** @returns the media type without parameters, in lower case */
export function mediaType(header: string | undefined): string | undefined {
  return header?.split(";", 1)[0]?.trim().toLowerCase();
}

function encodingOf(contentType: string | undefined): "form" | "json" | "none" {
  const type = mediaType(contentType);
  if (type === "application/x-www-form-urlencoded") return "form";
  return type === "application/json" ? "json" : "none";
}

function membersOf(encoding: "form" | "json" | "none", entries: readonly (readonly [string, string])[]) {
  const get = (name: string): string | undefined => {
    const values = entries.filter(([key]) => key === name);
    return values.length === 1 && values[0]?.[1] !== "" ? values[0]?.[1] : undefined;
  };
  return {
    encoding,
    /**
     * The member's value; undefined when absent, empty, or not text. A member sent twice counts as
     * absent.
     */
    get,
    /** The different parts of the value. */
    list: (name: string, separator: string | RegExp = " "): readonly string[] => [
      ...new Set((get(name) ?? "").split(separator).filter((part) => part !== "")),
    ],
    entries,
  };
}

function jsonEntries(text: string): readonly (readonly [string, string])[] {
  return Object.entries(parseObject(text) ?? {}).flatMap(([name, member]) =>
    typeof member === "string" ? [[name, member] as const] : [],
  );
}

/** @returns undefined unless it is a JSON object */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
