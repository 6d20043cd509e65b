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
