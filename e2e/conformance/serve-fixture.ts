/**
 * With `node --import`, an app of examples/ serves the fixture and not its own tools: the suite needs
 * tools with names of its own. Everything else of the app is as its author wrote it.
 */
import { registerHooks } from "node:module";

const FIXTURE_HANDLER = new URL("fixture/handler.ts", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@oauth-broker/mcp-auth" && context.parentURL?.includes("/examples/") === true
      ? { url: FIXTURE_HANDLER, shortCircuit: true }
      : next(specifier, context),
});
