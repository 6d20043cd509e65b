/** Shapes with their words, for the rows of the table: of each kind what most of its rows say. */
import type { PatternCheck } from "../../mechanics/pattern-check.ts";
import { checkHeaderName, checkHeaderValue, checkMemberPath } from "./checks.ts";
import type { MapShape } from "./shape.ts";

/** A shape, with what one row says in addition or otherwise. */
export type Says<Usual, More> = Omit<Usual, keyof More> & More;

interface Words {
  readonly description: string;
  readonly example: string;
}

function says<Usual, More>(usual: Usual, more: More | undefined): Says<Usual, More> {
  return { ...usual, ...more } as unknown as Says<Usual, More>;
}

/** An address in which the entry's placeholders are filled. */
export function url<const More>(
  description: string,
  example: string,
  more?: More,
): Says<Words & { readonly is: "url"; readonly placeholders: "filled" }, More> {
  return says({ is: "url", placeholders: "filled", description, example } as const, more);
}

/** One of some texts, the first of which is the example. */
export function choice<const Values extends readonly [string, ...string[]], const More>(
  values: Values,
  description: string,
  more?: More,
): Says<Words & { readonly is: "choice"; readonly values: Values }, More> {
  return says({ is: "choice", values, description, example: values[0] } as const, more);
}

/** True or false. */
export function flag<const More>(description: string, more?: More): Says<Words & { readonly is: "flag" }, More> {
  return says({ is: "flag", description, example: "true" } as const, more);
}

type Text = Words & { readonly is: "text"; readonly type: string };

/** One text. */
export function text<const More>(description: string, example: string, more?: More): Says<Text, More> {
  return says({ is: "text", type: "text", description, example } as const, more);
}

/** A member of an answer. */
export function path<const More>(
  description: string,
  example: string,
  more?: More,
): Says<Text & { readonly check: PatternCheck }, More> {
  return says({ ...text(description, example), type: "member, or a path to it", check: checkMemberPath }, more);
}

/** Headers of a request. */
export const HEADERS: MapShape = {
  is: "map",
  names: "lower case",
  name: checkHeaderName,
  of: text("The value.", "2026-11-01", { check: checkHeaderValue }),
  type: "mapping of names to texts",
  example: '{ x-api-version: "2026-11-01" }',
};
