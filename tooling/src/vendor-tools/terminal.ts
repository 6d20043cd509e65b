/**
 * Asks the user at the terminal. A secret is not shown while it is typed. Used by main.ts when
 * there is a terminal.
 */
import { createInterface } from "node:readline/promises";
import { type Readable, Writable } from "node:stream";
import { refusal } from "./refusal.ts";

export interface Question {
  readonly text: string;
  readonly isSecret: boolean;
}

/** @throws Refusal when the user interrupts instead of answering */
export type Ask = (question: Question) => Promise<string>;

/** @param output shows the questions and what is typed, except secrets */
export function createAsk(input: Readable, output: Writable): Ask {
  return async ({ text, isSecret }) => {
    const shown = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!isSecret) output.write(chunk);
        done();
      },
    });
    const terminal = createInterface({ input, output: shown, terminal: true });
    try {
      const answer = terminal.question(isSecret ? "" : `${text}: `);
      // Printed here instead of as its prompt: for a secret the interface prints nothing at all.
      if (isSecret) output.write(`${text}: `);
      return (await answer).trim();
    } catch (error) {
      // Ctrl-C, Ctrl-D.
      if (error instanceof Error && error.name === "AbortError") throw refusal("Stopped. Nothing was tried");
      throw error;
    } finally {
      terminal.close();
      if (isSecret) output.write("\n");
    }
  };
}
