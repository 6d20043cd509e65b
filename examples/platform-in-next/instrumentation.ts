/** Runs once, when the process starts: what is missing ends it, and not a user's request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === "nodejs") (await import("./platform.ts")).platform();
}
