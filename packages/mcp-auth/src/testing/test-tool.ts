/** Tools of tests, of which a test says only what it is about. */
import { z } from "zod";
import type { Tool } from "../tool.ts";

/** Takes nothing and answers `ran`, unless `members` say otherwise. */
export function testTool<Input extends z.ZodObject = z.ZodObject, const Id extends string = never>(
  name: string,
  members: Partial<Tool<Input, Id>> = {},
): Tool<Input, Id> {
  return { name, description: name, input: z.object({}) as z.ZodObject as Input, run: async () => "ran", ...members };
}
