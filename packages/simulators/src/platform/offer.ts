/** A vendor on the sample platform's page: what is told about it, what is asked for it, and how the request is made of both. */

export interface VendorOffer {
  /** The vendor's id at the broker. */
  readonly id: string;
  readonly name: string;
  /** One line: what a newcomer sees there that is different elsewhere. */
  readonly about: string;
  /** Members of each pushed request beside the usual: `scope`, `prompt`, `resource`. */
  readonly request: Readonly<Record<string, string>>;
  /** What the person who connects has to say first; each has a value that works. */
  readonly placeholders?: readonly PlaceholderOffer[];
}

export interface PlaceholderOffer {
  /** As the vendor's entry calls it. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Left out: any text. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}

type Form = Readonly<Record<string, unknown>>;

/** Names of the form's inputs: a placeholder must not be taken for `vendor` or `csrf`. */
export function inputName({ name }: PlaceholderOffer): string {
  return `placeholder.${name}`;
}

/** @returns members for `/v1/par`; an input that was left empty keeps the value that works */
export function requestFor({ id, request, placeholders = [] }: VendorOffer, form: Form): Record<string, string> {
  const values = placeholders.map((placeholder): [string, string] => {
    const typed = form[inputName(placeholder)];
    return [placeholder.name, typeof typed === "string" && typed.trim() !== "" ? typed.trim() : placeholder.value];
  });
  return {
    vendor: id,
    ...request,
    ...(values.length === 0 ? {} : { placeholders: JSON.stringify(Object.fromEntries(values)) }),
  };
}
