/** The only reader of process.env here. */
import { startFolder } from "@oauth-broker/oauth-core/configuration";

/** The folder the command was started in. */
export function calledIn(): string {
  return startFolder(process.env);
}
