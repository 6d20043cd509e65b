/** The one reader of process.env here. */
import { startFolder } from "@oauth-broker/oauth-core/configuration";

/** The folder the command was called in. */
export function calledIn(): string {
  return startFolder(process.env);
}
