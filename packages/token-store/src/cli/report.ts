/** What a command tells while it runs. progress.ts shows it; tests gather it. Nothing here holds a token. */
export type Report =
  | {
      readonly event: "progress";
      readonly command: string;
      /** 0 while rows are only counted. */
      readonly pass: number;
      readonly done: number;
      /** Rows of the table; absent until they were counted. */
      readonly total?: number;
      readonly counts: Readonly<Record<string, number>>;
    }
  /** Only where it was asked for: it names a user. */
  | { readonly event: "row"; readonly kind: string; readonly user: string; readonly vendor: string }
  | { readonly event: "waiting"; readonly reason: string; readonly detail: string; readonly seconds: number };

/** How a command ended: `plaintext_left` and `unreadable_found` are answers, not failures. */
export type Ending = "done" | "plaintext_left" | "unreadable_found" | "refused" | "interrupted";

export interface Result {
  readonly command: "audit" | "migrate" | "strip";
  readonly ending: Ending;
  readonly table: string;
  readonly dryRun?: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly byVendor?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What to do next, or why it was refused: sentences for the operator. */
  readonly next: readonly string[];
}
