import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { describeKeyWrapper, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { parseKeyArn } from "./kms-key-id.ts";
import { encodeWrapped } from "./kms-wrapped.ts";
import { localKeyWrapper } from "./local.ts";

const CONTEXT = { purpose: "keyset" };
const VALID = `oauth-broker key file 1\n${Buffer.alloc(32, 7).toString("base64url")}\n`;

let folder: string;
let path: string;

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, "data", "key");
});

async function provision(text: string | Buffer, mode = 0o600): Promise<void> {
  await mkdir(join(folder, "data"), { recursive: true });
  await writeFile(path, text);
  await chmod(path, mode);
}

describeKeyWrapper("local", async () => {
  const stranger = localKeyWrapper({ path: join(folder, "other") });
  await stranger.load();
  const [wrapper, reopen] = [localKeyWrapper({ path }), localKeyWrapper({ path })];
  return { wrapper, reopen, stranger, dispose: async () => {} };
});

describe("the key file", () => {
  it("is made on first use, for its owner alone, with nothing left beside it", async () => {
    const wrapper = localKeyWrapper({ path });
    expect(await readdir(folder)).toEqual([]);
    await wrapper.newDataKey(CONTEXT);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "data"))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, "data"))).toEqual(["key"]);
    expect(await readFile(path, "utf8")).toMatch(/^oauth-broker key file 1\n[A-Za-z0-9_-]{43}\n$/);
    expect(await wrapper.load()).toEqual({ path, created: true, readableByOthers: false });
    expect(await localKeyWrapper({ path }).load()).toEqual({ path, created: false, readableByOthers: false });
  });

  it("is never written again", async () => {
    await provision(VALID);
    const { wrapped } = await localKeyWrapper({ path }).newDataKey(CONTEXT);
    expect(await readFile(path, "utf8")).toBe(VALID);
    await localKeyWrapper({ path, create: false }).unwrap(wrapped, CONTEXT);
  });

  it.each([
    [0o640, true],
    [0o604, true],
    [0o644, true],
    [0o400, false],
    [0o600, false],
  ])("of mode %o works, and says whether others can read it", async (mode, readableByOthers) => {
    await provision(VALID, mode);
    expect(await localKeyWrapper({ path }).load()).toEqual({ path, created: false, readableByOthers });
  });

  it("may have Windows line ends, or none at the end", async () => {
    await provision(VALID.replaceAll("\n", "\r\n"));
    const { wrapped } = await localKeyWrapper({ path }).newDataKey(CONTEXT);
    await provision(VALID.trimEnd());
    expect(await localKeyWrapper({ path }).unwrap(wrapped, CONTEXT)).toHaveLength(32);
  });

  it("that is lost is not made to open something, and opens it once restored", async () => {
    await provision(VALID);
    const { wrapped } = await localKeyWrapper({ path }).newDataKey(CONTEXT);
    await rm(path);
    const wrapper = localKeyWrapper({ path });
    await expect(wrapper.unwrap(wrapped, CONTEXT)).rejects.toMatchObject({ code: "key_file_unavailable" });
    const key = parseKeyArn("arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab");
    const ofKms = encodeWrapped({ key: key!, binding: Buffer.alloc(32), blob: Buffer.alloc(64) });
    const named = { code: "unreadable", detail: `${key?.arn} sealed it, and no KMS key is set` };
    await expect(wrapper.unwrap(ofKms, CONTEXT)).rejects.toMatchObject(named);
    expect(await readdir(join(folder, "data"))).toEqual([]);
    await provision(VALID);
    expect(await wrapper.unwrap(wrapped, CONTEXT)).toHaveLength(32);
  });

  it("that was to be provisioned and is not there is an error, not made, and found when it comes", async () => {
    const wrapper = localKeyWrapper({ path, create: false });
    await expect(wrapper.newDataKey(CONTEXT)).rejects.toThrow(
      expect.objectContaining({ code: "key_file_unavailable", detail: path }),
    );
    expect(await readdir(folder)).toEqual([]);
    await provision(VALID);
    await wrapper.newDataKey(CONTEXT);
  });

  const KEY_LINE = VALID.split("\n")[1]!;
  it.each([
    ["an empty file", ""],
    ["another file", "client_secret: abc\n"],
    ["another format's header", VALID.replace("file 1", "file 2")],
    ["no key", "oauth-broker key file 1\n"],
    ["a key of 31 bytes", `oauth-broker key file 1\n${Buffer.alloc(31).toString("base64url")}\n`],
    ["a key of 33 bytes", `oauth-broker key file 1\n${Buffer.alloc(33).toString("base64url")}\n`],
    ["a cut key", VALID.slice(0, -5)],
    ["a key in another encoding", `oauth-broker key file 1\n${Buffer.alloc(32, 7).toString("hex")}\n`],
    ["a key with padding", `oauth-broker key file 1\n${KEY_LINE}=\n`],
    ["a third line", `${VALID}${KEY_LINE}\n`],
    ["raw bytes", Buffer.alloc(32, 7)],
    ["a large file", VALID + "\n".repeat(5000)],
  ])("with %s is refused, named but not shown, and left as it is", async (_what, content) => {
    await provision(content);
    const error: unknown = await localKeyWrapper({ path })
      .newDataKey(CONTEXT)
      .catch((cause: unknown) => cause);
    expect(error).toMatchObject({ name: "TokenStoreError", code: "key_file_invalid" });
    expect(String(error)).toContain(path);
    expect(String(error)).not.toContain(KEY_LINE.slice(0, 20));
    expect(await readFile(path)).toEqual(Buffer.from(content));
  });

  it.runIf(existsSync("/dev/zero"))("that has no end is refused", async () => {
    await expect(localKeyWrapper({ path: "/dev/zero" }).load()).rejects.toMatchObject({ code: "key_file_invalid" });
  });

  it("that cannot be made is an error of each call", async () => {
    await writeFile(join(folder, "data"), "a file where the folder should be");
    const wrapper = localKeyWrapper({ path });
    await expect(wrapper.newDataKey(CONTEXT)).rejects.toThrow(
      expect.objectContaining({ code: "key_file_unavailable" }),
    );
    await rm(join(folder, "data"));
    await wrapper.newDataKey(CONTEXT);
  });

  it("is created once for callers that share nothing but the folder", async () => {
    const wrappers = Array.from({ length: 20 }, () => localKeyWrapper({ path }));
    const files = await Promise.all(wrappers.map((wrapper) => wrapper.load()));
    expect(files.filter(({ created }) => created)).toHaveLength(1);
    const { wrapped } = await wrappers[0]!.newDataKey(CONTEXT);
    for (const wrapper of wrappers) await wrapper.unwrap(wrapped, CONTEXT);
    expect(await readdir(join(folder, "data"))).toEqual(["key"]);
  });
});
