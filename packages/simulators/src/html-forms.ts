/**
 * Parses the forms of our own, known pages and of oidc-provider's form_post page: enough HTML for
 * drive-consent.ts, no more.
 */

export type Member = readonly [name: string, value: string];

export interface Form {
  /** Relative or absolute, as written; empty = the page itself. */
  readonly action: string;
  readonly method: "get" | "post";
  /** Hidden and text inputs, in order. */
  readonly fields: readonly Member[];
  /** Named submit buttons, in order. */
  readonly buttons: readonly Member[];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

export function parseForms(page: string): readonly Form[] {
  return [...page.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].map(([, attributes = "", content = ""]) => {
    const { action = "", method = "get" } = parseAttributes(attributes);
    const controls = [...content.matchAll(/<(input|button)\b([^>]*)>/gi)].map(([, tag = "", text = ""]) => ({
      tag: tag.toLowerCase(),
      attributes: parseAttributes(text),
    }));
    const members = (isButton: boolean): Member[] =>
      controls.flatMap(({ tag, attributes: { type, name, value } }) =>
        name !== undefined && (tag === "button" || type === "submit") === isButton
          ? [[name, value ?? ""] as const]
          : [],
      );
    return {
      action,
      method: method.toLowerCase() === "post" ? "post" : "get",
      fields: members(false),
      buttons: members(true),
    };
  });
}

function parseAttributes(text: string): { readonly [name: string]: string | undefined } {
  const matches = text.matchAll(/([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/gi);
  return Object.fromEntries(
    [...matches].map(([, name = "", a, b, c]) => [name.toLowerCase(), unescapeHtml(a ?? b ?? c ?? "")]),
  );
}

function unescapeHtml(text: string): string {
  return text.replace(
    /&(?:#(\d+)|#x([0-9a-f]+)|([a-z]+));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      return ENTITIES[name ?? ""] ?? whole;
    },
  );
}
