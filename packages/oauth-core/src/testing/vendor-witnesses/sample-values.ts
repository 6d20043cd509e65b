/** Values for the placeholders of an entry, of its kind if that is more than a word. */
import type { PlaceholderSpec, PlaceholderSpecs } from "../../protocol/placeholders.ts";

const SAMPLES: Readonly<Record<string, string>> = {
  application_id: "amzn1.sp.solution.acme",
  aws_region: "eu-west-1",
  environment_id: "00000000-0000-4000-8000-000000000000",
  shard: "eu1",
};

/** @returns a value for each placeholder */
export function sampleValues(placeholders: PlaceholderSpecs): Record<string, string> {
  return Object.fromEntries(Object.entries(placeholders).map(([name, spec]) => [name, sampleOf(name, spec)]));
}

function sampleOf(name: string, { values, default: usual, suffix, kind }: PlaceholderSpec): string {
  const whole = kind === "host" ? `acme${suffix?.[0] ?? ".example"}` : "acme";
  return usual ?? values?.[0] ?? SAMPLES[name] ?? whole;
}
