/** What to do next, as sentences. */
import type { Standing } from "./checkpoint.ts";
import type { PassesOutcome } from "./passes.ts";
import type { Counts, Tally } from "./tally.ts";

const FLIP =
  "Once no build is left that knows only plaintext: TOKEN_ENCRYPTION_MODE=encrypted everywhere, then 'token-store strip'.";

export function auditAdvice(
  tally: Tally,
  verified: { readonly differs: number; readonly unreadable: number; readonly unknown_issuer: number } | undefined,
): readonly string[] {
  const counts = tally.total();
  const notes = [...brokenNotes(counts), ...(verified === undefined ? [] : verifiedNotes(verified))];
  if (counts.plaintext_only > 0) {
    const vendors = [...tally.byVendor()]
      .filter(([, { plaintext_only: found }]) => found > 0)
      .map(([vendor]) => vendor);
    const issuers = vendors.map((vendor) => `--issuer ${vendor}=ISSUER`).join(" ");
    return [`Seal the rows that are plaintext only: token-store migrate ${issuers}`, ...notes];
  }
  if (counts.shows_plaintext > 0) return [`No row is plaintext only. ${FLIP}`, ...notes];
  return ["No token can be read in the table.", ...notes];
}

function brokenNotes({ broken, empty }: Counts): string[] {
  return [
    ...(broken > 0
      ? [
          `${rows(broken)} lost a part of the sealed half, or a newer release wrote it: such a user has to authorize again.`,
        ]
      : []),
    ...(empty > 0
      ? [`${rows(empty)} without an access token: a user who has one of these has to authorize again.`]
      : []),
  ];
}

function verifiedNotes(verified: {
  readonly differs: number;
  readonly unreadable: number;
  readonly unknown_issuer: number;
}): string[] {
  const { differs, unreadable, unknown_issuer: unknown } = verified;
  return [
    ...(differs > 0
      ? [`${rows(differs)} with a copy that an older build has changed: 'token-store migrate' takes it.`]
      : []),
    ...(unreadable > 0
      ? [
          `${rows(unreadable)} did not open: wrong --issuer, another key or table, or altered. Such a user has to authorize again.`,
        ]
      : []),
    ...(unknown > 0 ? [`${rows(unknown)} of vendors without --issuer were not opened.`] : []),
  ];
}

export function rows(count: number): string {
  return count === 1 ? "1 row" : `${count.toLocaleString("en")} rows`;
}

/** After migrate. */
export function migrateAdvice(
  ended: PassesOutcome["ended"],
  { counts, left }: Pick<Standing, "counts" | "left">,
): readonly string[] {
  if (ended === "interrupted") return [RUN_AGAIN];
  const { unknown_issuer: unknown = 0, refused = 0 } = left;
  const { unreadable = 0 } = counts;
  const notes = [
    ...(unknown > 0
      ? [`${rows(unknown)} of vendors without --issuer are still plaintext only: name their issuers.`]
      : []),
    ...(refused > 0
      ? [`${rows(refused)} cannot be sealed, a token being longer than 32 KB: such a user has to authorize again.`]
      : []),
    ...(unreadable > 0 ? verifiedNotes({ differs: 0, unreadable, unknown_issuer: 0 }) : []),
  ];
  if (ended === "unsettled") {
    return [
      "Older builds write plaintext as fast as it is sealed: take them out of service, then run it again.",
      ...notes,
    ];
  }
  return unknown + refused > 0 ? notes : [`No row is plaintext only. ${FLIP}`, ...notes];
}

export const RUN_AGAIN = "Run the same command again to go on.";

/** After strip. */
export function stripAdvice(ended: PassesOutcome["ended"], left: Standing["left"]): readonly string[] {
  if (ended === "interrupted") return [RUN_AGAIN];
  const sentences: Readonly<Record<string, (count: string) => string>> = {
    plaintext_only: (count) =>
      `${count} became plaintext only meanwhile: an older build is at work. End it, then migrate.`,
    unknown_issuer: (count) => `${count} of vendors without --issuer keep their copy: name their issuers.`,
    unreadable: (count) =>
      `${count} did not open, so their copy stays: wrong --issuer, another key or table, or altered. 'audit --verify' counts them.`,
    refused: (count) => `${count} have a changed copy that cannot be sealed, a token being longer than 32 KB.`,
    no_access_token: (count) => `${count} without an access token hold another token in plaintext.`,
    in_use: (count) => `${count} were in use all the time: run it again.`,
  };
  const notes = Object.entries(left).flatMap(([name, count]) =>
    count > 0 ? [sentences[name]?.(rows(count)) ?? name] : [],
  );
  return notes.length === 0 ? ["No token can be read in the table."] : notes;
}
