/**
 * Whether the issuers on the command line are those the servers seal with. Sealing under another one would make a row that
 * no server opens, so a row that a server has sealed must open first.
 */
import type { Row } from "../storage/token-rows.ts";
import { inspect, type InspectDeps } from "./inspect.ts";
import type { Patiently } from "./patience.ts";
import type { KnownRow } from "./row-kinds.ts";

const MOST_SAMPLES = 5;

export interface Samples {
  add(row: Row, known: KnownRow): void;
  of(vendor: string): readonly Row[];
}

/** Keeps some sealed rows of each vendor. */
export function sampleSealed(): Samples {
  const samples = new Map<string, Row[]>();
  return {
    add: (row, { kind, names }) => {
      if (names === undefined || (kind !== "both" && kind !== "ciphertext_only")) return;
      const kept = samples.get(names.vendor) ?? [];
      samples.set(names.vendor, kept);
      if (kept.length < MOST_SAMPLES) kept.push(row);
    },
    of: (vendor) => samples.get(vendor) ?? [],
  };
}

/**
 * @param vendors those with rows to seal
 * @returns what is wrong, a sentence for each vendor
 */
export async function issuerProblems(
  vendors: readonly string[],
  { samples, issuers }: { readonly samples: Samples; readonly issuers: ReadonlyMap<string, string> },
  { patiently, ...deps }: InspectDeps & { readonly patiently: Patiently },
): Promise<readonly string[]> {
  const problems = vendors.map(async (vendor): Promise<readonly string[]> => {
    const issuer = issuers.get(vendor);
    if (issuer === undefined) return [];
    const rows = samples.of(vendor);
    const opened = await Promise.all(rows.map((row) => patiently(() => inspect(row, issuer, deps))));
    if (opened.some((inspection) => inspection !== "unreadable")) return [];
    return rows.length === 0
      ? [
          `No row of ${vendor} is sealed yet, so --issuer ${vendor}=${issuer} cannot be checked. Let a server in mode bridge ` +
            `serve one user first, or repeat with --skip-issuer-check if you are certain: rows sealed for another issuer open nowhere.`,
        ]
      : [
          `The rows of ${vendor} that servers have sealed do not open with --issuer ${vendor}=${issuer}. Give the issuer the ` +
            `servers use, and compare DB_TABLE_NAME, DB_TABLE_REGION and TOKEN_ENCRYPTION_KMS_KEY_ID with theirs.`,
        ];
  });
  return (await Promise.all(problems)).flat();
}
