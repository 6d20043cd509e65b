/** What the compiler lets an author of a tool write: a vendor exists exactly where it is named. */
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { defineTool, NeedsScope, SIGN_IN_VENDOR, type Tool, ToolError, type VendorApi } from "./tool.ts";

const about = { name: "t", description: "t" };
const word = z.object({ word: z.string() });

describe("the vendors of a tool, for the compiler", () => {
  it("are exactly those that it names, in the long form", () => {
    const tool = defineTool({
      ...about,
      input: word,
      vendors: { github: { scopes: ["repo"] }, slack: { scopes: ["chat:write"] } },
      run: async (input, { vendors }) => {
        expectTypeOf(input).toEqualTypeOf<{ word: string }>();
        expectTypeOf(vendors.github).toEqualTypeOf<VendorApi>();
        expectTypeOf(vendors.slack).toEqualTypeOf<VendorApi>();
        expectTypeOf<keyof typeof vendors>().toEqualTypeOf<"github" | "slack">();
        // @ts-expect-error: not named
        return vendors.google;
      },
    });
    expectTypeOf(tool).toExtend<Tool>();
    expectTypeOf([tool]).toExtend<readonly Tool[]>();
  });

  it("is the one that it names, in the short form", () => {
    const tool = defineTool({
      ...about,
      input: word,
      vendor: "slack",
      scopes: ["chat:write"],
      run: async (_, { vendor, vendors }) => {
        expectTypeOf(vendor).toEqualTypeOf<VendorApi>();
        expectTypeOf<keyof typeof vendors>().toEqualTypeOf<"slack">();
        // @ts-expect-error: not named
        return vendors.github;
      },
    });
    expectTypeOf(tool).toExtend<Tool>();
  });

  it("are none where it names none", () => {
    const tool = defineTool({
      ...about,
      input: word,
      run: async (_, { vendor, vendors }) => {
        expectTypeOf(vendor).toEqualTypeOf<VendorApi>();
        expectTypeOf<keyof typeof vendors>().toEqualTypeOf<never>();
        // @ts-expect-error: not named
        return vendors.slack;
      },
    });
    expectTypeOf(tool).toExtend<Tool>();
  });

  it("may be the one that signs users in, whichever that is", () => {
    defineTool({
      ...about,
      input: word,
      vendor: SIGN_IN_VENDOR,
      scopes: [],
      run: async (_, { vendors }) => {
        expectTypeOf(vendors.sign_in).toEqualTypeOf<VendorApi>();
        return "";
      },
    });
  });

  it("name their scopes in the long form", () => {
    expectTypeOf(defineTool).toBeCallableWith({
      ...about,
      input: word,
      // @ts-expect-error: scopes are missing
      vendors: { github: {} },
      run: async () => "",
    });
  });
});

it("NeedsScope is an error that the model may read", () => {
  const error = new NeedsScope("slack", ["chat:write", "users:read"]);
  expect(error).toBeInstanceOf(ToolError);
  expect(error).toMatchObject({ name: "NeedsScope", vendor: "slack", scopes: ["chat:write", "users:read"] });
  expect(error.message).toBe("slack does not permit this without the scope chat:write users:read");
});
