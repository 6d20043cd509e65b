/**
 * The problems of a configuration, collected and reported all at once: where, what, what is
 * expected, an example, what to do next. A problem never repeats a value: it may be a secret in the
 * wrong place.
 */
export interface Problem {
  /** `clients[0].redirect_uris[1]`, or the name of an environment variable. */
  readonly path: string;
  /** Continues the path: `is missing`, `must be …`. */
  readonly problem: string;
  /** The expected format of the value. */
  readonly expected?: string;
  readonly example?: string;
}

/** An Error whose message lists every problem. Created only here; recognised by its name. */
export interface ConfigError extends Error {
  readonly name: "ConfigError";
  readonly problems: readonly Problem[];
}

/**
 * @param words.service what cannot start: `The broker`
 * @param words.source the file's path, or the source that was read instead
 * @param words.next what to do about it, in whole sentences
 */
export function configError(
  problems: readonly Problem[],
  { service, source, next }: { readonly service: string; readonly source: string; readonly next: string },
): ConfigError {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const listed = problems.map(({ path, problem, expected, example }) => {
    const lines = [`  ${path} ${problem}`];
    if (expected !== undefined) lines.push(`      expected: ${expected}`);
    if (example !== undefined) lines.push(`      example:  ${example}`);
    return lines.join("\n");
  });
  const message = `${service} cannot start: ${count} in ${source}\n\n${listed.join("\n\n")}\n\n${next}`;
  const error = Object.assign(new Error(message), { name: "ConfigError" as const, problems });
  // A stack would only hide the list of problems.
  error.stack = message;
  return error;
}

/** Whether the error is a ConfigError, by its name and members. */
export function isConfigError(error: unknown): error is ConfigError {
  return error instanceof Error && error.name === "ConfigError" && "problems" in error;
}

/**
 * Runs a check that throws an error with a public `description`, and returns that description as
 * the end of a sentence.
 */
export function problemOfThrown(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof Error && "description" in error ? String(error.description) : "is not usable";
  }
}

/** The known word closest to the given one, if close enough to be a typing error. */
export function nearest(written: string, known: Iterable<string>): string | undefined {
  const text = written.toLowerCase().slice(0, LONGEST);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(written.length / 3)) + 1;
  for (const word of known) {
    // A stranger may ask for it among hundreds: words that cannot be nearer are not compared.
    if (Math.abs(word.length - text.length) >= least) continue;
    const distance = editDistance(text, word.toLowerCase(), least);
    if (distance < least) [best, least] = [word, distance];
  }
  return best;
}

const LONGEST = 64;
/** Two rows, used again for each comparison. */
const rows = [new Uint16Array(256), new Uint16Array(256)] as const;

/**
 * Levenshtein distance, one row at a time.
 *
 * @returns `enough` or more for one that is not below it
 */
function editDistance(a: string, b: string, enough: number): number {
  let [row, next] = b.length < rows[0].length ? rows : [new Uint16Array(b.length + 1), new Uint16Array(b.length + 1)];
  for (let j = 0; j <= b.length; j += 1) row[j] = j;
  for (let i = 1; i <= a.length; i += 1) {
    next[0] = i;
    let smallest = i;
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      const distance = Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      next[j] = distance;
      if (distance < smallest) smallest = distance;
    }
    if (smallest >= enough) return enough;
    [row, next] = [next, row];
  }
  return row[b.length] ?? 0;
}
