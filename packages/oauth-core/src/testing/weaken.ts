/**
 * Twins: a test replaces an exported function, and everything that imports it calls the
 * replacement, until the test ends. Files that do so share the modules of their worker with all others.
 */
import { registerHooks } from "node:module";
import { onTestFinished } from "vitest";

/** How a module of this repository gives access to its exports, in a line that is appended to it. */
interface Exports {
  readonly names: readonly string[];
  readonly read: () => Readonly<Record<string, unknown>>;
  readonly write: (values: Readonly<Record<string, unknown>>) => void;
}

const MODULES = "exports of the modules of these tests";
const DECLARATION = /^export (?:async function\*?|function\*?|class|const|let) (\w+)/gm;
const MODULE_OF_A_DEFENCE = /\/(?:node_modules\/oauth4webapi\/.*|(?!.*node_modules\/).*(?<!\.test)\.ts)$/;

const modules: Exports[] = [];

/** For the set-up of a worker, before it loads what tests replace. */
export function makeExportsReplaceable(): void {
  Object.assign(globalThis, { [MODULES]: modules });
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (!MODULE_OF_A_DEFENCE.test(url) || !loaded.source) return loaded;
      const text = Buffer.from(loaded.source as Uint8Array).toString();
      const names = [...new Set(Array.from(text.matchAll(DECLARATION), ([, name]) => name))];
      if (names.length === 0) return loaded;
      const source = `${text.replaceAll(/^export const /gm, "export let ")}
globalThis[${JSON.stringify(MODULES)}].push({ names: ${JSON.stringify(names)}, read: () => ({ ${names.join()} }),
write: (by) => void ({ ${names.map((name) => `${name} = ${name}`).join()} } = by) });`;
      return { ...loaded, source };
    },
  });
}

/** A function that always says yes may replace a type guard. */
type Instead<Module> = {
  readonly [Name in keyof Module]?: Module[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : Module[Name];
};

/**
 * @param module the namespace (`import * as`) of a module with the functions, or of one that exports them again
 * @param instead gets what the names mean now
 */
export function weaken<Module extends object>(module: Module, instead: (real: Module) => Instead<Module>): void {
  const real = { ...module };
  for (const [name, value] of Object.entries(instead(real))) {
    const home = modules.find(({ names, read }) => names.includes(name) && read()[name] === real[name as keyof Module]);
    if (home === undefined) throw new Error(`No module of this repository declares ${name}`);
    onTestFinished(() => home.write({ [name]: real[name as keyof Module] }));
    home.write({ [name]: value });
  }
}
