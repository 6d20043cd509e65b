/** A part of the bench: its subjects are measured in rounds, compared, and printed as one table. */
import { describeMachine } from "../machine.ts";
import { outcomeTable } from "../report.ts";
import { measureRounds, type Rounds, type Subject } from "../rounds.ts";

/**
 * @param part.about what it is, and the load on it
 * @param part.measured whose processor time the table holds
 * @param say prints a line of progress
 * @returns also what is printed
 * @throws Error when a process ends, or an answer is wrong
 */
export async function measurePart(
  { about, measured, subjects }: Readonly<Record<"about" | "measured", string>> & { readonly subjects: Subject[] },
  asked: Rounds,
  say: (line: string) => void,
) {
  const { outcomes, warmUp } = await measureRounds(subjects, asked, say);
  const settings = `${about}; ${asked.rounds} rounds of ${asked.count} of each kind after ${warmUp}, ${describeMachine()}`;
  return { outcomes, text: `${settings}\n\n${outcomeTable(`CPU of ${measured}, µs`, outcomes)}` };
}
