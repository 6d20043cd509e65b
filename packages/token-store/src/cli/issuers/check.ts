/**
 * Checks the issuers before migrate seals for them: no row stores its issuer, and one sealed for
 * another than the servers' could be opened by no server. So a row that is sealed already must open
 * first. If none is, an issuer in the settings of this program is right by definition, and one
 * that was typed is not trusted.
 */
import type { Row } from "../../storage/token-rows.ts";
import type { Program } from "../arguments.ts";
import { inspect, type InspectDeps, type KnownRow } from "../row-kinds.ts";
import type { Tally } from "../survey.ts";
import type { Retry } from "../walk.ts";

/**
 * - `unchecked`: it was typed, and no row of the vendor is sealed yet
 * - `unopened`: the rows of the vendor that are sealed do not open with it
 */
export const ISSUER_PROBLEMS = ["unchecked", "unopened"] as const;
/** Vendors whose rows are left as they are, and why. */
export type RefusedIssuers = Readonly<Record<string, (typeof ISSUER_PROBLEMS)[number]>>;

type Issuers = ReadonlyMap<string, string>;

const MOST_SAMPLES = 5;

/** Some sealed rows of each vendor. */
export type Samples = Map<string, readonly Row[]>;

export function addSample(samples: Samples, row: Row, { kind, names }: KnownRow): void {
  if (names === undefined || (kind !== "both" && kind !== "ciphertext_only")) return;
  const kept = samples.get(names.vendor) ?? [];
  if (kept.length < MOST_SAMPLES) samples.set(names.vendor, [...kept, row]);
}

/** Asks only about vendors with rows to seal. */
export async function refusedIssuers(
  { tally, samples }: { readonly tally: Tally; readonly samples: Samples },
  issuers: Issuers,
  { retry, program, ...deps }: InspectDeps & { readonly retry: Retry; readonly program: Program },
): Promise<RefusedIssuers> {
  const refused = [...tally.byVendor()].map(async ([vendor, counts]): Promise<RefusedIssuers> => {
    if (counts.plaintext_only === 0) return {};
    const issuer = issuers.get(vendor);
    if (issuer === undefined) return {};
    const rows = samples.get(vendor) ?? [];
    if (rows.length === 0) return isConfigured(vendor, issuer, program) ? {} : { [vendor]: "unchecked" };
    const opened = await Promise.all(rows.map((row) => retry(() => inspect(row, issuer, deps))));
    return opened.some((inspection) => inspection !== "unreadable") ? {} : { [vendor]: "unopened" };
  });
  return Object.fromEntries((await Promise.all(refused)).flatMap((one) => Object.entries(one)));
}

function isConfigured(vendor: string, issuer: string, { issuers }: Program): boolean {
  return issuers.get(vendor) === issuer;
}

const COMPARE = "DB_TABLE_NAME, DB_TABLE_REGION and TOKEN_ENCRYPTION_KMS_KEY_ID";

/** @returns a sentence for each vendor */
export function issuerAdvice(refused: RefusedIssuers, issuers: Issuers, program: Program): readonly string[] {
  return Object.entries(refused).map(([vendor, problem]) => {
    const issuer = issuers.get(vendor) ?? "";
    if (problem === "unchecked") {
      return (
        `No row of ${vendor} is sealed yet, so --issuer ${vendor}=${issuer} cannot be checked. Let a server in mode bridge ` +
        `serve one user first, or repeat with --skip-issuer-check if you are certain: rows sealed for another issuer open nowhere.`
      );
    }
    return isConfigured(vendor, issuer, program)
      ? `The rows of ${vendor} that are sealed do not open with ${issuer}, its issuer in these settings. Compare the ` +
          `vendor's settings, ${COMPARE} with those of the servers that sealed them.`
      : `The rows of ${vendor} that servers have sealed do not open with --issuer ${vendor}=${issuer}. Give the issuer the ` +
          `servers use, and compare ${COMPARE} with theirs.`;
  });
}
