// Before a library is compiled: removes its dist, in which the compiler would leave the outputs of
// sources that no longer exist.
import { rmSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
