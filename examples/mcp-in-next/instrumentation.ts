/** Runs once, when the process starts: wrong settings end it, and not a user's request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { openMcp } = await import("./mcp.ts");
  await openMcp().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  });
}
