/** Terraform's language, as `terraform fmt` would write it: just what terraform.ts needs. */

/** Written as it stands: a reference, a call, a condition. */
export interface Expression {
  /** @param indent the spaces before the line on which it begins */
  readonly hcl: (indent: string) => string;
}

export type Value = string | number | boolean | Expression | readonly Value[] | { readonly [name: string]: Value };

/** A block inside a block, or at the top: `type "label" { … }`. */
export interface Block {
  readonly type: string;
  readonly labels?: readonly string[];
  readonly attributes?: Readonly<Record<string, Value | undefined>>;
  readonly blocks?: readonly Block[];
}

/** An expression that stands as it is. */
export const expression = (hcl: string | Expression["hcl"]): Expression => ({
  hcl: typeof hcl === "string" ? () => hcl : hcl,
});

const isExpression = (value: Value): value is Expression =>
  typeof value === "object" && "hcl" in value && typeof value.hcl === "function";

/** A text without placeholders: Terraform reads `${` and `%{` as the beginning of one. */
export const quote = (text: string): string => JSON.stringify(text).replace(/[$%](?=\{)/g, "$&$&");

const IDENTIFIER = /^[A-Za-z_][\w-]*$/;

/** @param indent the spaces before the line on which the value begins */
export function renderValue(value: Value, indent = ""): string {
  if (typeof value === "string") return quote(value);
  if (typeof value !== "object") return String(value);
  if (isExpression(value)) return value.hcl(indent);
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    const items = (value as readonly Value[]).map((item) => renderValue(item, deeper));
    const line = `[${items.join(", ")}]`;
    if (!line.includes("\n") && line.length <= 100) return line;
    return `[\n${items.map((item) => `${deeper}${item},\n`).join("")}${indent}]`;
  }
  const entries = Object.entries(value as Readonly<Record<string, Value>>);
  return `{\n${renderAttributes(entries, deeper, (name) => (IDENTIFIER.test(name) ? name : quote(name)))}${indent}}`;
}

/** The signs of attributes on lines that follow each other are aligned. */
function renderAttributes(
  entries: readonly (readonly [name: string, value: Value])[],
  indent: string,
  nameOf: (name: string) => string = (name) => name,
): string {
  const lines = entries.map(([name, value]) => [nameOf(name), renderValue(value, indent)] as const);
  const groups: (readonly [name: string, text: string])[][] = [[]];
  for (const line of lines) {
    groups.at(-1)?.push(line);
    if (line[1].includes("\n")) groups.push([]);
  }
  return groups
    .flatMap((group) => {
      const isLong = ([, text]: readonly [string, string]): boolean => text.includes("\n");
      const width = Math.max(0, ...group.filter((line) => !isLong(line)).map(([name]) => name.length));
      return group.map((line) => `${indent}${line[0].padEnd(isLong(line) ? 0 : width)} = ${line[1]}\n`);
    })
    .join("");
}

/** A block with its line breaks. */
export function renderBlock({ type, labels = [], attributes = {}, blocks = [] }: Block, indent = ""): string {
  const given = Object.entries(attributes).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  const deeper = `${indent}  `;
  const head = [type, ...labels.map((label) => JSON.stringify(label))].join(" ");
  const inside = blocks.map((block) => renderBlock(block, deeper));
  const parts = [renderAttributes(given, deeper), ...inside].filter((part) => part !== "");
  return parts.length === 0 ? `${indent}${head} {}\n` : `${indent}${head} {\n${parts.join("\n")}${indent}}\n`;
}
