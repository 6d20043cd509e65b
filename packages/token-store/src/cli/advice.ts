/** What the operator should do next, as sentences. */
import type { Program } from "./arguments.ts";
import type { Standing } from "./checkpoint.ts";
import type { PassesOutcome } from "./passes.ts";
import type { Counts, Tally } from "./survey.ts";

/**
 * A row that cannot be repaired is replaced when its user authorizes again, so the operator has to
 * know whose it is.
 */
const whose = (kind: string, { name }: Program, options = ""): string =>
  `Whose: '${name} audit${options} --list ${kind}'.`;

const flip = ({ name }: Program): string =>
  `Once no build is left that reads only plaintext: TOKEN_ENCRYPTION_MODE=encrypted everywhere, then '${name} strip'.`;

type Verified = Readonly<Record<"differs" | "unreadable" | "unknown_issuer", number>>;

export function auditAdvice(tally: Tally, verified: Verified | undefined, program: Program): readonly string[] {
  const counts = tally.total();
  const notes = [...brokenNotes(counts, program), ...(verified === undefined ? [] : verifiedNotes(verified, program))];
  if (counts.plaintext_only > 0) {
    const vendors = [...tally.byVendor()]
      .filter(([vendor, { plaintext_only: found }]) => found > 0 && !program.issuers.has(vendor))
      .map(([vendor]) => vendor);
    const command = [program.name, "migrate", ...vendors.map((vendor) => `--issuer ${vendor}=ISSUER`)].join(" ");
    return [`Seal the rows that are plaintext only: ${command}`, ...notes];
  }
  if (counts.shows_plaintext > 0) return [`No row is plaintext only. ${flip(program)}`, ...notes];
  return ["No token can be read in the table.", ...notes];
}

function brokenNotes({ broken, empty }: Counts, program: Program): string[] {
  const lost = "A part of the sealed half is gone, or a newer release wrote it.";
  const ended = "An ended link leaves one for an hour.";
  return [
    ...(broken > 0 ? [`Broken: ${rows(broken)}. ${lost} ${whose("broken", program)}`] : []),
    ...(empty > 0 ? [`Without an access token: ${rows(empty)}. ${ended} ${whose("empty", program)}`] : []),
  ];
}

function verifiedNotes({ differs, unreadable, unknown_issuer: unknown }: Verified, program: Program): string[] {
  return [
    ...(differs > 0 ? [`Copy changed by an older build: ${rows(differs)}. '${program.name} migrate' takes it.`] : []),
    ...(unreadable > 0 ? [unreadableNote(unreadable, program)] : []),
    ...(unknown > 0 ? [`Not opened, because --issuer does not name their vendor: ${rows(unknown)}.`] : []),
  ];
}

function unreadableNote(count: number, program: Program): string {
  return `Did not open: ${rows(count)}. Either --issuer, key or table is wrong, or the row was altered. ${whose("unreadable", program, " --verify")}`;
}

/** After migrate. */
export function migrateAdvice(
  ended: PassesOutcome["ended"],
  { counts, left }: Pick<Standing, "counts" | "left">,
  program: Program,
): readonly string[] {
  if (ended === "interrupted") return [RUN_AGAIN];
  const { issuer_refused: unchecked = 0, unknown_issuer: unknown = 0, refused = 0, in_use: inUse = 0 } = left;
  const { unreadable = 0 } = counts;
  const notes = [
    ...(unknown > 0 ? [`Still plaintext only, because --issuer does not name their vendor: ${rows(unknown)}.`] : []),
    ...(refused > 0 ? [`Still plaintext only, because a token is longer than 32 KB: ${rows(refused)}.`] : []),
    ...(inUse > 0
      ? [`Could not be written, changed at every attempt: ${rows(inUse)}. ${whose("plaintext_only", program)}`]
      : []),
    ...(unreadable > 0 ? [unreadableNote(unreadable, program)] : []),
  ];
  if (ended === "unsettled" && inUse === 0) {
    return ["Older builds write plaintext as fast as it is sealed: end them, then run it again.", ...notes];
  }
  return unchecked + unknown + refused + inUse > 0 ? notes : [`No row is plaintext only. ${flip(program)}`, ...notes];
}

export const RUN_AGAIN = "Run the same command again to go on.";

/** After strip. */
export function stripAdvice(
  ended: PassesOutcome["ended"],
  left: Standing["left"],
  { isErased, program }: { readonly isErased: boolean; readonly program: Program },
): readonly string[] {
  if (ended === "interrupted") return [RUN_AGAIN];
  const notes = Object.entries(left).flatMap(([name, count]) =>
    count > 0 ? [LEFT_BY_STRIP[name]?.(rows(count), program) ?? name] : [],
  );
  if (!isErased) notes.push(LOG_IN_USE);
  if (notes.length > 0) return notes;
  return [
    ended === "unsettled"
      ? "Copies come back as fast as they are removed: an older build, or a server in mode bridge, is running. End it."
      : "No token can be read in the table.",
  ];
}

const LOG_IN_USE =
  "Former copies are left in the log of the SQLite file (-wal): another process keeps reading it, such as a backup or a shell. End it, then run strip again.";

const LEFT_BY_STRIP: Readonly<Record<string, (count: string, program: Program) => string>> = {
  plaintext_only: (count) => `Plaintext only by now: ${count}. An older build is running: end it, then migrate.`,
  unknown_issuer: (count) => `Keep their copy, because --issuer does not name their vendor: ${count}.`,
  copy_differs: (count, program) =>
    `Keep their copy, because it has other tokens: ${count}. An older build wrote it, or an attacker. ${whose("differs", program, " --verify")} To use those copies, run '${program.name} migrate', then strip again.`,
  unreadable: (count, program) =>
    `Keep their copy, because they did not open: ${count}. Either --issuer, key or table is wrong, or the row was altered. ${whose("unreadable", program, " --verify")}`,
  refused: (count) => `Keep their copy, because an older build changed it and a token is longer than 32 KB: ${count}.`,
  no_access_token: (count, program) =>
    `Without an access token, but with another one: ${count}. ${whose("empty", program)}`,
  in_use: (count) => `Changed at every attempt: ${count}. Run it again.`,
};

export function rows(count: number): string {
  return count === 1 ? "1 row" : `${count.toLocaleString("en")} rows`;
}
