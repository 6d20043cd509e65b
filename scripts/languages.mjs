// `npm run test:languages`: the OAuth libraries of examples/oauth-libraries, unmodified, against a
// broker with sealed refresh tokens. Opt-in: it needs Python 3.11, Go 1.26 or Java 17 with Maven,
// whose own clients bring the libraries.
import { mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { bringPython, root, run, testE2e } from "./run.mjs";
import { refuse, runScript } from "./usage.mjs";

const LANGUAGES = { python, go, java };
const ABOUT = {
  program: "npm run test:languages",
  takes: " [-- LANGUAGE...]",
  words: true,
  help: `Tests Authlib (python), golang.org/x/oauth2 (go), Nimbus and Spring Security (java), unmodified, against a broker with
sealed refresh tokens. Without a LANGUAGE all three. They need Python 3.11, Go 1.26, and Java 17 with Maven; what pip,
Go and Maven bring goes into node_modules/.cache, and the first run of java takes minutes.`,
};

const examples = join(root, "examples", "oauth-libraries");
const cache = join(root, "node_modules", ".cache", "oauth-libraries");

function python() {
  const interpreter = bringPython("oauth-libraries/python", [join(examples, "python", "requirements.txt")]);
  return [{ name: "Authlib", command: [interpreter, join(examples, "python", "main.py")] }];
}

function go() {
  const binary = join(cache, "go-program");
  // The version that is there: a newer one would have to be downloaded.
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly" };
  run("go", ["build", "-o", binary, "."], { cwd: join(examples, "go"), env });
  return [{ name: "golang.org/x/oauth2", command: [binary] }];
}

function java() {
  const target = join(cache, "java");
  const classPath = join(target, "classpath");
  const repository = `-Dmaven.repo.local=${join(cache, "maven")}`;
  const goals = ["compile", "dependency:build-classpath", `-Dmdep.outputFile=${classPath}`];
  const quiet = ["--quiet", "--batch-mode", "--no-transfer-progress"];
  run("mvn", [...quiet, ...goals, repository, `-Dtarget=${target}`], { cwd: join(examples, "java") });
  const path = [join(target, "classes"), readFileSync(classPath, "utf8").trim()].join(delimiter);
  return ["Nimbus", "Spring"].map((name) => ({ name, command: ["java", "-cp", path, name] }));
}

await runScript(ABOUT, ({ words }) => {
  const chosen = words.length === 0 ? Object.keys(LANGUAGES) : words;
  const unknown = chosen.find((name) => !Object.hasOwn(LANGUAGES, name));
  if (unknown !== undefined) refuse(`${unknown} is none of ${Object.keys(LANGUAGES).join(", ")}`, ABOUT);
  mkdirSync(cache, { recursive: true });
  const libraries = chosen.flatMap((name) => {
    console.error(`Building the libraries for ${name} …`);
    return LANGUAGES[name]();
  });
  testE2e("scenarios/broker-clients/oauth-libraries.test.ts", { OAUTH_LIBRARIES: JSON.stringify(libraries) });
});
