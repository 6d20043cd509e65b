/** The fields of forms: a label, a control, a hint, and what is wrong with the value. */
import { html, type Markup } from "@oauth-broker/service/page";

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value: string;
  readonly problem?: string | undefined;
}

export function inputField({ value, ...field }: Field): Markup {
  return fieldWith(
    field,
    html`<input type="text" ${attributesOf(field)} value="${value}" autocomplete="off" spellcheck="false">`,
  );
}

export function choiceField(
  name: string,
  label: string,
  choices: Readonly<Record<string, string>>,
  chosen: string,
  problem?: string,
): Markup {
  const options = Object.entries(choices).map(
    ([value, word]) => html`<option value="${value}"${value === chosen ? " selected" : undefined}>${word}</option>`,
  );
  const field = { name, label, problem };
  return fieldWith(field, html`<select ${attributesOf(field)}>${options}</select>`);
}

type FieldFrame = Omit<Field, "value">;

export function fieldWith({ name, label, hint, problem }: FieldFrame, control: Markup): Markup {
  const said = hint === undefined ? undefined : html`<p class="quiet" id="${name}-hint">${hint}</p>`;
  const wrong =
    problem === undefined ? undefined : html`<p class="problem" id="${name}-problem">${label} ${problem}</p>`;
  return html`<div class="field"><label for="${name}">${label}</label>${control}${said}${wrong}</div>`;
}

export function attributesOf({ name, hint, problem }: FieldFrame): Markup {
  const describedBy = [hint === undefined ? "" : `${name}-hint`, problem === undefined ? "" : `${name}-problem`]
    .filter((id) => id !== "")
    .join(" ");
  const described = describedBy === "" ? undefined : html` aria-describedby="${describedBy}"`;
  return html`id="${name}" name="${name}"${described}${problem === undefined ? undefined : html` aria-invalid="true"`}`;
}
