// Generated from the files of this folder by `mcp-tools`, which dev, test and build run first. A tool is one file here.
import { listPages } from "./list-pages.ts";
import { whoami } from "./whoami.ts";

export const tools = [listPages, whoami];
