// For Node.js, Bun and Deno, which run a program: issuers in the arguments, what was said on stdout.
import { tryAll } from "./runtime-program.mjs";

console.log(JSON.stringify(await tryAll(JSON.parse(globalThis.process.argv[2]))));
