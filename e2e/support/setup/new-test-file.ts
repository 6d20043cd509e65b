/** Files share a worker and its modules: what belongs to one file is emptied before the next. */
import { afterAll } from "vitest";
import { forgetSecrets } from "../secrets.ts";
import { removeTemporaryFolders } from "../service-process.ts";

forgetSecrets();
// After the file's own hooks.
afterAll(removeTemporaryFolders);
