import { randomBytes } from "node:crypto";
import { OAuthError } from "@oauth-broker/oauth-core";
import type { DataKeys } from "../../keys/data-keys.ts";

/** Keys by name: `current` seals. While it is down the key service does not respond. */
export function fakeDataKeys(): DataKeys & { down: boolean; current: string } {
  const known = new Map<string, Buffer>();
  const keys = {
    down: false,
    current: "k1",
    toSeal: async () => ({ dataKey: await keys.toOpen(keys.current), wrapped: keys.current }),
    toOpen: async (wrapped: string): Promise<Buffer> => {
      if (keys.down) throw new OAuthError("temporarily_unavailable", "Down", { reason: "kms_unavailable" });
      const key = known.get(wrapped) ?? randomBytes(32);
      known.set(wrapped, key);
      return key;
    },
    isStale: (wrapped: string) => wrapped !== keys.current,
    close: () => known.clear(),
  };
  return keys;
}
