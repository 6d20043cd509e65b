import { open, rename } from "node:fs/promises";

/** Written under another name first: the file appears whole or not at all, for this user alone. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  const handle = await open(draft, "w", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
