import { create, type CreateDeps } from "../create.ts";

export interface Ran {
  readonly code: number;
  readonly printed: string;
  readonly said: string;
}

/** The command without a terminal, in a folder outside of the repository. */
export async function runCreate(
  args: readonly string[],
  deps: Pick<CreateDeps, "from" | "materials"> & Partial<CreateDeps>,
): Promise<Ran> {
  const texts = { printed: "", said: "" };
  const code = await create(args, {
    repository: undefined,
    version: "9.9.9",
    prompts: undefined,
    print: (text) => void (texts.printed += `${text}\n`),
    say: (text) => void (texts.said += `${text}\n`),
    ...deps,
  });
  return { code, ...texts };
}
