/**
 * The command that starts a server's file, in the project that the platform deploys. The platform
 * hands none of our variables to a server, so the command names the cache of compiled files.
 */
export function startCommand(file: string): string {
  const cache = process.env["NODE_COMPILE_CACHE"];
  const variable = cache === undefined ? "" : `NODE_COMPILE_CACHE=${JSON.stringify(cache)} `;
  return `${variable}exec node ${JSON.stringify(file)}`;
}
