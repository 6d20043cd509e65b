/** What a PromQL expression names, by Prometheus's own grammar. */
import { parser } from "@prometheus-io/lezer-promql";
import type { SyntaxNode } from "@lezer/common";

/** A selector of series. */
export interface Selector {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The labels of the `by (…)` around it. */
  readonly grouping: readonly string[];
}

/** @throws Error when it is no PromQL */
export function readPromql(text: string): readonly Selector[] {
  const selectors: Selector[] = [];
  const textOf = (node: SyntaxNode | null): string => (node === null ? "" : text.slice(node.from, node.to));
  parser.parse(text).iterate({
    enter: ({ node }) => {
      if (node.type.isError) throw new Error(`This is no PromQL at ${node.from}: ${text}`);
      if (node.name !== "VectorSelector") return;
      const matchers = node.getChild("LabelMatchers")?.getChildren("UnquotedLabelMatcher") ?? [];
      const labels = matchers.map((matcher): [string, string] => [
        textOf(matcher.getChild("LabelName")),
        JSON.parse(textOf(matcher.getChild("StringLiteral"))) as string,
      ]);
      const grouping: string[] = [];
      for (let around = node.parent; around !== null; around = around.parent) {
        const names = around.getChild("AggregateModifier")?.getChild("GroupingLabels")?.getChildren("LabelName");
        grouping.push(...(names ?? []).map(textOf));
      }
      selectors.push({ metric: textOf(node.getChild("Identifier")), labels: Object.fromEntries(labels), grouping });
    },
  });
  return selectors;
}

/** Prometheus's text format: the name of each series → its labels, each with the values seen. */
export type Scrape = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

export function readScrape(text: string): Scrape {
  const series = new Map<string, Map<string, Set<string>>>();
  for (const line of text.split("\n")) {
    const [, name = "", labels = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === "") continue;
    const known = series.get(name) ?? new Map<string, Set<string>>();
    series.set(name, known);
    for (const [, label = "", value = ""] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      known.set(label, (known.get(label) ?? new Set()).add(value));
  }
  return series;
}
