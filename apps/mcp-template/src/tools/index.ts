/** The tools of the server. A new tool is a file here, an import and a place in the list. */
import { listPages } from "./list-pages.ts";
import { whoami } from "./whoami.ts";

export const tools = [listPages, whoami];
