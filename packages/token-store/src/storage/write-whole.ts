import { rename, writeFile } from "node:fs/promises";

/** Written under another name first: the file appears whole or not at all, for this user alone. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, file);
}
