// Imports the given modules, and prints what that changed in this process: the globals, the
// listeners of the process, and what keeps it alive. JavaScript, for every Node.js of the packages.
const state = () => ({
  globals: Reflect.ownKeys(globalThis).map(String),
  listeners: process.eventNames().map(String),
  resources: process.getActiveResourcesInfo(),
});

// Open from here on, for every module that looks at them.
void [process.stdin, process.stdout, process.stderr];
const before = state();
for (const specifier of process.argv.slice(2)) await import(specifier);
const changes = Object.entries(state()).flatMap(([kind, names]) =>
  names.filter((name) => !before[kind].includes(name)).map((name) => `${kind}: ${name}`),
);
process.stdout.write(JSON.stringify(changes));
