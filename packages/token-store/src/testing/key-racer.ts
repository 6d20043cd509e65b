/** One of several processes that meet at one key file. Started by keys/local.test.ts. */
import { localKeyWrapper } from "../keys/local.ts";

export interface KeyRaceResult {
  readonly created: boolean;
  readonly wrapped: string;
  /** base64url; a key of a test. */
  readonly dataKey: string;
}

if (import.meta.main) {
  process.on("message", ({ path }: { path: string }) => {
    const wrapper = localKeyWrapper({ path });
    const race = async (): Promise<KeyRaceResult> => {
      const { created } = await wrapper.load();
      const { dataKey, wrapped } = await wrapper.newDataKey({ purpose: "race" });
      return { created, wrapped, dataKey: dataKey.toString("base64url") };
    };
    void race().then((result) => process.send?.(result));
  });
  process.send?.({ ready: 1 });
}
