/**
 * The server without auth, for the bench only: loaded before the server's own file, it replaces the
 * bearer check of `/mcp` by no-auth-bearer.ts. No setting of the product does this.
 */
import { registerHooks } from "node:module";

registerHooks({
  resolve: (specifier, context, next) => {
    const isCheck = specifier.endsWith("/bearer.ts") && context.parentURL?.endsWith("/mcp/endpoint.ts") === true;
    return isCheck ? next("./no-auth-bearer.ts", { ...context, parentURL: import.meta.url }) : next(specifier, context);
  },
});
