/**
 * The memory store with records in it from the start, for records.ts only. Loaded before the
 * broker's own file (`--import filled-memory.ts?records=N`), it replaces the entry of the memory
 * store by filled-memory-store.ts. No setting of the product does this.
 */
import { registerHooks } from "node:module";

const { search } = new URL(import.meta.url);

registerHooks({
  resolve: (specifier, context, next) => {
    const isOurs = context.parentURL?.includes("filled-memory-store.ts") === true;
    return specifier === "@oauth-broker/token-store/memory" && !isOurs
      ? next(`./filled-memory-store.ts${search}`, { ...context, parentURL: import.meta.url })
      : next(specifier, context);
  },
});
