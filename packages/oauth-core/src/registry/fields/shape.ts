/**
 * What a row of the table of vendor fields (../fields.ts) may say: the shape of a value, the words
 * for the operator who writes it, and what the field is to a vendor whose hosts change.
 */
import type { JsonValue } from "../../ports.ts";

/** `tokenEndpoint` → `token_endpoint`: every field is on the wire what it is in code. */
export type WireName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${WireName<Rest>}`
  : Name;

/** @returns the name in the operator's file, in `/v1/vendors` and in metadata */
export function wireName<Name extends string>(name: Name): WireName<Name> {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as WireName<Name>;
}

/** The end of a sentence (`must be …`) for a text that is wrong; undefined for a valid one. */
export type TextCheck = (value: string) => string | undefined;

/** How docs/configuration.md and a message about a bad value describe it. */
export interface Described {
  /** In a few words; choices, flags and addresses have their own. */
  readonly type?: string;
  /** One sentence. */
  readonly description?: string;
  /** As it would be written. */
  readonly example?: string;
  readonly default?: string;
}

/**
 * An address. `placeholders`: `filled` may have the entry's, each of which is filled; `known` may
 * have names of another meaning too (`{client_id}`, the tenant of a token), and is filled if all its
 * names are the entry's. Absent: it is whole.
 */
export interface UrlShape extends Described {
  readonly is: "url";
  readonly placeholders?: "filled" | "known";
  /** Whether an operator may write placeholders. Absent: as an entry. */
  readonly operatorsPlaceholders?: false;
}

/** One text. */
export interface TextShape extends Described {
  readonly is: "text";
  readonly check?: TextCheck;
  /** Texts that the check refuses, for broker.schema.json. */
  readonly except?: readonly string[];
  /** `parameter`: at most 2048 characters, and none at all is one. */
  readonly as?: "parameter";
}

/** A text that may be absent. */
export type OptionalText = TextShape & { readonly optional: true };

/** One of some texts. */
export interface ChoiceShape extends Described {
  readonly is: "choice";
  readonly values: readonly [string, ...string[]];
}

/** A whole number. */
export interface NumberShape extends Described {
  readonly is: "number";
  readonly least: number;
  readonly most: number;
}

/**
 * `flag`: true or false. `json`: any JSON. `code`: only in a vendor's own file, which the compiler
 * checks.
 */
export interface PlainShape extends Described {
  readonly is: "flag" | "json" | "code";
}

/** A list; with `short` a text alone is a list of one object that has this member alone. */
export interface ListShape extends Described {
  readonly is: "list";
  readonly of: Shape;
  readonly mayBeEmpty?: true;
  readonly short?: string;
}

/** Names that the vendor chooses, with a value each. */
export interface MapShape extends Described {
  readonly is: "map";
  readonly name?: TextCheck;
  /** For an operator's file alone: an entry's own is known to work. */
  readonly operatorsName?: TextCheck;
  /** Names without case: an operator may write either, an entry has lower case. */
  readonly names?: "lower case";
  readonly of: Shape;
}

/** Our members. */
export interface ObjectShape extends Described {
  readonly is: "object";
  readonly members: Readonly<Record<string, MemberShape>>;
  /** What is wrong between the members. */
  readonly check?: (value: never) => string | undefined;
}

/** A member of an object. */
export type MemberShape = Shape & {
  readonly optional?: true;
  /** What it is if an operator's file leaves it out; an entry states it. */
  readonly absent?: JsonValue;
};

/** A value of one of some shapes. */
export interface OneOfShape extends Described {
  readonly is: "one of";
  readonly of: readonly (ChoiceShape | ObjectShape)[];
}

/** The shape of a value. */
export type Shape =
  | UrlShape
  | TextShape
  | ChoiceShape
  | NumberShape
  | PlainShape
  | ListShape
  | MapShape
  | ObjectShape
  | OneOfShape;

/** What a value of a shape is. */
export type ValueOf<Of> = Of extends { readonly is: "choice"; readonly values: readonly (infer Value)[] }
  ? Value
  : Of extends { readonly is: "list"; readonly of: infer Item }
    ? ListOf<ValueOf<Item>, Of>
    : Of extends { readonly is: "map"; readonly of: infer Item }
      ? Readonly<Record<string, ValueOf<Item>>>
      : Of extends { readonly is: "object"; readonly members: infer Members }
        ? MembersOf<Members>
        : Of extends { readonly is: "one of"; readonly of: readonly (infer One)[] }
          ? ValueOf<One>
          : Of extends { readonly is: keyof Plain }
            ? Plain[Of["is"]]
            : never;

interface Plain {
  readonly url: string;
  readonly text: string;
  readonly number: number;
  readonly flag: boolean;
  readonly json: JsonValue;
}

type ListOf<Item, Of> = Of extends { readonly mayBeEmpty: true } ? readonly Item[] : readonly [Item, ...Item[]];

type MembersOf<Rows> = {
  readonly [Name in keyof Rows as Rows[Name] extends { readonly optional: true } ? never : Name]: ValueOf<Rows[Name]>;
} & {
  readonly [Name in keyof Rows as Rows[Name] extends { readonly optional: true } ? Name : never]?: ValueOf<Rows[Name]>;
};

/** A variable of a deployed server; what it does not say of itself, the row says. */
export interface VariableOfField extends Described {
  readonly name: `VENDOR_${string}`;
}

/** What a row says beside the shape. */
export interface FieldFacts {
  /**
   * Who may state it beside a vendor's own file: an entry of catalogue.json, the operator's file, a
   * request. A deployed server's operator may if the row has a `variable`.
   */
  readonly by: readonly ("catalogue" | "file" | "request")[];
  readonly variable?: VariableOfField;
  /** The standard's endpoint that it takes the place of: the variable of that one replaces its address. */
  readonly insteadOf?: "userinfoEndpoint" | "introspectionEndpoint";
  /** The vendor's metadata may name it, under its name on the wire. */
  readonly inMetadata?: true;
  /** It must be the same on all legs of a flow. */
  readonly bindsFlow?: true;
  /** A connection pins its host: for requests with a grant's tokens, or for a check of one. */
  readonly pinnedFor?: "grants" | "checks";
  /**
   * What becomes of an entry's own value if another party's token endpoint replaces the entry's:
   * `dropped`; or `at its domain`, dropped unless it is below the new endpoint's registrable domain,
   * because tokens are sent there.
   */
  readonly atMovedTokenEndpoint?: "dropped" | "at its domain";
  /** An entry at another party's authorization endpoint does not vouch for it with this. */
  readonly atMovedAuthorizationEndpoint?: "dropped";
  /** `/v1/explain` shows it among the endpoints, or under this name among the sources. */
  readonly explained?: "endpoint" | { readonly as: string };
}

/** A row: the shape of a field, and the rest that is said of it. */
export type Field = Shape & FieldFacts;
