/** Takes a docstring apart: the prose, and what each tag says. Callers: page.ts. */

export interface Docstring {
  /** Paragraphs; may hold Markdown. */
  readonly prose: string;
  readonly parameters: readonly { readonly name: string; readonly text: string }[];
  readonly returns: readonly string[];
  readonly throws: readonly string[];
  readonly see: readonly string[];
}

/** A tag may follow prose on its line: `The user's account. @throws ToolError`. */
const TAG = /(?:^|\s)@(?=(?:param|returns|throws|see)\b)/;

export function parseDocstring(text: string): Docstring {
  const [prose = "", ...tags] = text.split(TAG);
  const textsOf = (tag: string): string[] =>
    tags.filter((one) => one.startsWith(`${tag} `)).map((one) => one.slice(tag.length).trim());
  return {
    prose: prose.trim(),
    parameters: textsOf("param").map((one) => {
      const [, name = "", rest = ""] = /^(\S+)\s*([^]*)$/.exec(one) ?? [];
      return { name, text: rest };
    }),
    returns: textsOf("returns"),
    throws: textsOf("throws"),
    see: textsOf("see"),
  };
}
