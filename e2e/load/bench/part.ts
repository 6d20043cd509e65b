/** A part of the bench: its subjects are measured in rounds, compared, and printed as one table. */
import { describeMachine } from "../machine.ts";
import { outcomeTable } from "../report.ts";
import { measureRounds, type Outcome, type Rounds, type Subject } from "../rounds.ts";

export interface PartOfBench {
  /** What it is, and the load on it. */
  readonly about: string;
  /** Whose processor time the table holds. */
  readonly measured: string;
  readonly subjects: readonly Subject[];
}

export interface PartResults {
  readonly outcomes: readonly Outcome[];
  /** What is printed. */
  readonly text: string;
}

/**
 * @param say prints a line of progress
 * @throws Error when a process ends, or an answer is wrong
 */
export async function measurePart(
  { about, measured, subjects }: PartOfBench,
  asked: Rounds,
  say: (line: string) => void,
): Promise<PartResults> {
  const { outcomes, warmUp } = await measureRounds(subjects, asked, say);
  const settings = `${about}; ${asked.rounds} rounds of ${asked.count} of each kind after ${warmUp}, ${describeMachine()}`;
  return { outcomes, text: `${settings}\n\n${outcomeTable(`CPU of ${measured}, µs`, outcomes)}` };
}
