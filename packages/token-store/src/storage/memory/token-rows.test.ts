import { describeTokenRows } from "../../testing/rows/contract.ts";
import { memoryTokenRows } from "./token-rows.ts";

describeTokenRows("memory", () => memoryTokenRows());
