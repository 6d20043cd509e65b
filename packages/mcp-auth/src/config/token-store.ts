/**
 * The variables of the token store, which reads them itself: checked here only so that its problems
 * are reported together with ours.
 */
import type { Environment } from "@oauth-broker/service/configuration";
import { readTokenStoreSettings, settingsProblems, TokenStoreError } from "@oauth-broker/token-store";
import type { Reader } from "./reader.ts";
import { VARIABLES } from "./variables.ts";

/** `ADOPT_UNSEALED_SERVER_KEY`, meant for a single start. */
export function readAdoption(read: Reader): boolean {
  const isSet = read.flag("ADOPT_UNSEALED_SERVER_KEY");
  if (isSet) {
    const isSealing =
      read.value("DB_TABLE_NAME") === undefined || read.value("TOKEN_ENCRYPTION_KMS_KEY_ID") !== undefined;
    read.warn(
      isSealing
        ? "ADOPT_UNSEALED_SERVER_KEY is set: a server key that lies unsealed is replaced by a new, sealed one, and all sessions end, once. Unset it once this server runs"
        : "ADOPT_UNSEALED_SERVER_KEY has no effect without TOKEN_ENCRYPTION_KMS_KEY_ID: the server key stays unsealed",
    );
  }
  return isSet;
}

export function checkTokenStore(read: Reader, environment: Environment): void {
  try {
    readTokenStoreSettings({}, environment);
  } catch (error) {
    if (!(error instanceof TokenStoreError)) throw error;
    for (const sentence of settingsProblems(error)) {
      const [name = "", ...words] = sentence.split(" ");
      const variable = VARIABLES.find((one) => one.name === name);
      if (variable === undefined) read.refuse("DB_TABLE_NAME", `and its like are not usable: ${sentence}`);
      else read.refuse(variable.name, words.join(" "));
    }
  }
}
