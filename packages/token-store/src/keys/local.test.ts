import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeKeyWrapper } from "@oauth-broker/oauth-core/testing";
import { localKeyWrapper } from "./local.ts";

describeKeyWrapper("local", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keys-"));
  return {
    wrapper: localKeyWrapper({ path: join(folder, "key") }),
    reopen: localKeyWrapper({ path: join(folder, "key") }),
    stranger: localKeyWrapper({ path: join(folder, "other") }),
    dispose: () => rm(folder, { recursive: true }),
  };
});
