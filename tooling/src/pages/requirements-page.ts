/**
 * docs/security-requirements.md: the duties of the services, row by row, and where each is tested.
 * Generated from e2e/requirements.
 */
import { FAMILIES, REQUIREMENTS } from "../../../e2e/requirements/list.ts";
import type { Requirement } from "../../../e2e/requirements/requirement.ts";
import { generated, link, table } from "./markdown.ts";

export function renderRequirements(): string {
  return generated(
    "Security requirements",
    "The security bar of this repository: an attack or a fault, and the required outcome. The code cites a row where it enforces it (`//= bar#CB-6`), tests carry it in their titles; [standards.md](standards.md) has the lines of code. In a twin the same attack succeeds, with one defence replaced: which shows that the test can fail. A row that is not ours gives the reason. Kept in `e2e/requirements/`.",
    ...FAMILIES.flatMap(({ name, title }) => [
      `## ${name}: ${title}`,
      table(
        ["row", "requirement", "tested in"],
        REQUIREMENTS.filter(({ id }) => id.split(/[-.]/, 1)[0] === name).map((one) => [one.id, one.text, place(one)]),
      ),
    ]),
  );
}

function place({ testedIn, twinIn, notOurs }: Requirement): string {
  if (notOurs !== undefined) return `Not ours. ${notOurs}.`;
  return testedIn.map((path) => (path === twinIn ? `${link(path)} (twin)` : link(path))).join("<br>");
}
