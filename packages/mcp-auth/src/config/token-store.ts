/**
 * The variables of the token store, which reads them itself: checked here only so that its problems
 * are reported together with ours.
 */
import type { Environment } from "@oauth-broker/oauth-core/configuration";
import { readTokenStoreSettings, TokenStoreError } from "@oauth-broker/token-store";
import type { Reader } from "./reader.ts";
import { VARIABLES } from "./variables.ts";

/** `ADOPT_UNSEALED_SERVER_KEY`, meant for a single start. */
export function readAdoption(read: Reader): boolean {
  const isSet = read.flag("ADOPT_UNSEALED_SERVER_KEY");
  if (isSet) {
    read.warn(
      "ADOPT_UNSEALED_SERVER_KEY is set: an unsealed server key is replaced by a new one, and all sessions end. Unset it once this server runs",
    );
  }
  return isSet;
}

export function checkTokenStore(read: Reader, environment: Environment): void {
  try {
    readTokenStoreSettings({}, environment);
  } catch (error) {
    if (!(error instanceof TokenStoreError)) throw error;
    if (error.code === "key_missing") {
      read.refuse("TOKEN_ENCRYPTION_KMS_KEY_ID", "is missing, and TOKEN_ENCRYPTION_MODE is encrypted");
      return;
    }
    if (error.code === "key_id_invalid") {
      read.refuse("TOKEN_ENCRYPTION_KMS_KEY_ID", `names no key: ${error.detail ?? ""}`);
      return;
    }
    for (const sentence of (error.detail ?? error.message).split("; ")) {
      const [name = "", ...words] = sentence.split(" ");
      const variable = VARIABLES.find((one) => one.name === name);
      if (variable === undefined) read.refuse("DB_TABLE_NAME", `and its like are not usable: ${sentence}`);
      else read.refuse(variable.name, words.join(" "));
    }
  }
}
