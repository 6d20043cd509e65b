/** The one reader of process.env here. */

/** Where the person stands: npm runs scripts in the package's folder, and tells where it was called. */
export function startFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  return environment["INIT_CWD"] ?? process.cwd();
}
