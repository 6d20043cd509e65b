/**
 * With `node --import`, an app serves the fixture and not its own tools: the suite needs tools with
 * certain names. Everything else of the app is as its author wrote it, and the package is the one
 * that the app has.
 */
import { registerHooks } from "node:module";

const HERE = new URL(".", import.meta.url).href;
const FIXTURE_HANDLER = new URL("fixture/handler.ts", import.meta.url).href;
/** Next.js adds a hash. */
const PACKAGE = /^@oauth-broker\/mcp-auth(?:-[0-9a-f]+)?$/;
let ofApp = "";

registerHooks({
  resolve: (specifier, context, next) => {
    if (!PACKAGE.test(specifier)) return next(specifier, context);
    if (context.parentURL?.startsWith(HERE) === true) return { url: ofApp, shortCircuit: true };
    ofApp = next(specifier, context).url;
    return { url: FIXTURE_HANDLER, shortCircuit: true };
  },
});
