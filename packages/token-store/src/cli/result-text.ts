/** A result as text for a person. Scripts read the JSON instead. */
import type { Result } from "./report.ts";

const LABELS: Readonly<Record<string, string>> = {
  marked_encrypted: "marked encrypted",
  other: "other rows",
  opens: "opened, copy the same",
  differs: "opened, copy differs",
  unreadable: "did not open",
};

export function resultText({ command, table, dryRun, counts, byVendor, next }: Result): string {
  const title = `${command}${dryRun === true ? ", dry run" : ""}: table ${table}`;
  const vendors = Object.entries(byVendor ?? {}).flatMap(([vendor, own]) => ["", `vendor ${vendor}`, ...lines(own)]);
  return [title, ...lines(counts), ...vendors, "", ...next].join("\n");
}

function lines(counts: Readonly<Record<string, number>>): string[] {
  const entries = Object.entries(counts).map(
    ([name, count]) => [LABELS[name] ?? name.replaceAll("_", " "), count.toLocaleString("en")] as const,
  );
  const width = Math.max(0, ...entries.map(([, count]) => count.length)) + 2;
  return entries.map(([label, count]) => `  ${label.padEnd(24)}${count.padStart(width)}`);
}
