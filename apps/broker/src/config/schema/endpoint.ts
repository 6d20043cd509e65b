/** The URLs of vendors and clients, held to the same rules as every outbound call. */
import { placeholderNames } from "@oauth-broker/oauth-core/protocol";
import { checkEgressUrl } from "@oauth-broker/oauth-core/egress";
import { problemOfThrown } from "@oauth-broker/service/configuration";
import { type Row, text } from "./fields.ts";

/** What the egress section of the same file permits. */
export interface UrlRules {
  readonly allowLoopback: boolean;
  readonly allowCidrs: readonly string[];
}

/**
 * A schema for each set of rules, built when it is first asked for, which takes milliseconds. A
 * process meets the rules of its files alone.
 */
export function forEachRules<Schema>(build: (rules: UrlRules) => Schema): (rules: UrlRules) => Schema {
  const built = new Map<string, Schema>();
  return (rules) => {
    const key = JSON.stringify([rules.allowLoopback, rules.allowCidrs]);
    const known = built.get(key) ?? build(rules);
    built.set(key, known);
    return known;
  };
}

const TYPE = "absolute https URL (http only where egress allows it)";
const KEYWORDS = { pattern: String.raw`^[Hh][Tt][Tt][Pp][Ss]?://[\x21-\x7e]+$`, not: { pattern: "#" } };

/** An endpoint that the egress rules permit. */
//= bar#EG-7
export function endpoint(rules: UrlRules, row: Row) {
  const check = (value: string): string | undefined =>
    /[{}]/.test(value) ? "has braces, and no {placeholders} here: write the whole address" : problemOf(value, rules);
  return text({ type: TYPE, keywords: { ...KEYWORDS, not: { pattern: "[#{}]" } }, check, ...row });
}

/**
 * A vendor's endpoint, which may contain {placeholders}. Everything else in it is checked now; the
 * complete URL is checked when a flow fills it.
 */
//= bar#EG-7
export function endpointTemplate(rules: UrlRules, row: Row) {
  const check = (value: string): string | undefined => {
    const problem = problemOfThrown(() => void placeholderNames(value));
    return problem?.replace(/^a URL template /, "") ?? problemOf(sampleOf(value), rules);
  };
  return text({ type: TYPE, keywords: KEYWORDS, check, ...row });
}

function problemOf(url: string, rules: UrlRules): string | undefined {
  return checkEgressUrl(url, { ...rules, anyPort: true });
}

/** Fills every placeholder of the template with a harmless value. */
function sampleOf(template: string): string {
  if (!template.includes("{")) return template;
  const filled = template.replace(/\{[^{}]*\}/g, "x");
  // One placeholder is the whole host.
  return filled.replace(/^(https?:\/\/)x(?=[/?#:]|$)/, "$1x.example");
}
