/** What a test opens, and closes at the end of its block: `await using fixture = …`. */
export interface Closing extends AsyncDisposable {
  close(): Promise<void>;
}

/** Adds both ends to what was opened; those of another fixture inside are replaced. */
export function closing<Opened extends object>(opened: Opened, close: () => Promise<void>): Opened & Closing {
  return Object.assign(opened, { close, [Symbol.asyncDispose]: close });
}
