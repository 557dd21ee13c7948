import type { NumberKind } from "../rules/numbers.ts";

/**
 * The saved properties of a node type, written once, as plain data. From a table of them come the type of what is saved,
 * what holds where nothing is saved (`defaultsOf`), what the runtime accepts (src/runtime/config/settings.ts), what the
 * editor accepts (src/editor/fields.ts), and at build time the form and the editor's `defaults` (tools/editor-html.ts).
 */
export type PropertyTable = Readonly<Record<string, Property>>;

export type Property =
  | TextProperty
  | NumberProperty
  | ChoiceProperty
  | FlagProperty
  | TypedProperty
  | ConfigProperty
  | NameFromProperty
  | CredentialProperty
  | OutputsProperty;

/** How a property's row looks, and when it is there. */
interface Row {
  /** Font Awesome's name of the icon before the label. */
  readonly icon?: string;
  /**
   * Key of the label, `label.<property>` if not given. Keys that begin with `shared:` stand in the catalog that all types
   * share, the others in the type's own.
   */
  readonly label?: string;
  /** Key of the text in the empty field, or the text itself where it is the same in every language. */
  readonly placeholder?: string | { readonly text: string };
  /** Key of the note below the field. */
  readonly note?: string;
  /** Rows of one group that follow each other are framed together. */
  readonly group?: Group;
  /** Stands below the fold at the end of the form. */
  readonly isAdvanced?: true;
  /** Shown and checked only where each of these other properties has one of these values. */
  readonly when?: Readonly<Record<string, readonly (string | boolean)[] | "given">>;
}

export interface Group {
  /** Keys of the heading, and of a note below it. */
  readonly legend: string;
  readonly note?: string;
}

/** Rules for plain text, by name. */
export type TextRule =
  | "applicationIdentifier"
  | "baseUrl"
  | "codeKinds"
  | "deviceAddress"
  | "fileName"
  | "headerName"
  | "layout"
  | "limits"
  | "pattern"
  | "registrationCode"
  | "webhookPath";

export interface TextProperty extends Row {
  readonly kind: "text";
  readonly default: string;
  readonly rule?: TextRule;
  /** Key of the sentence for a blank field, where it must not be blank. */
  readonly required?: string;
}

export interface NumberProperty extends Row {
  readonly kind: "number";
  readonly of: NumberKind;
  readonly default: number;
  /** What holds where a flow has no value or a blank one; the default if not given. */
  readonly ifBlank?: number;
}

export interface ChoiceProperty extends Row {
  readonly kind: "choice";
  readonly of: readonly string[];
  readonly default: string;
  /** Key of the choices' texts, `<property>` if not given; each has its own name below it. */
  readonly texts?: string;
  /** A choice that is the name of another property needs that one to be blank. */
  readonly occupies?: true;
  /** Choices that have a tip below the row, and the key of all tips. */
  readonly tips?: { readonly key: string; readonly of: readonly string[] };
}

export interface FlagProperty extends Row {
  readonly kind: "flag";
  readonly default: boolean;
}

/** A value and, saved beside it in `<property>Type`, where it comes from. */
export interface TypedProperty extends Row {
  readonly kind: "typed";
  readonly default: string;
  readonly type: ValueType;
  readonly types?: readonly ValueType[];
  /** For a value of type str. */
  readonly rule?: TextRule;
  readonly required?: string;
}

export type ValueType = "msg" | "flow" | "global" | "str" | "jsonata" | "env";

/** Where a value that a message may give can come from. */
export const valueTypes = ["msg", "flow", "global", "str", "jsonata", "env"] as const satisfies ValueType[];

/** Where an archive's root or a folder can come from: never from a message. */
export const folderTypes = ["str", "env", "flow", "global"] as const satisfies ValueType[];

/** Where a store's folder can come from: it is the same for as long as the store is deployed. */
export const storeFolderTypes = ["str", "env"] as const satisfies ValueType[];

/** The id of a config node. */
export interface ConfigProperty extends Row {
  readonly kind: "config";
  readonly of: string;
  /** The property that may name a message property which names a deployed node instead. Without one it may be left out. */
  readonly from?: string;
  /** Key of what a dialog says where none is chosen and one is needed. */
  readonly required?: string;
  /** Without it, the node does less. */
  readonly isOptional?: true;
  /** The generation that the chosen device has to be of. */
  readonly generation?: "newer";
}

/** The name of a message property that names a deployed config node; blank: the chosen one. */
export interface NameFromProperty extends Row {
  readonly kind: "nameFrom";
}

/** Saved apart and encrypted; the editor knows only whether there is one. */
export interface CredentialProperty extends Row {
  readonly kind: "credential";
  readonly required?: string;
}

/** How many outputs the node has; the editor's own. */
export interface OutputsProperty extends Row {
  readonly kind: "outputs";
}

type ValueOf<P> = P extends { kind: "choice"; of: readonly (infer TChoice)[] }
  ? TChoice
  : P extends { kind: "flag" }
    ? boolean
    : P extends { kind: "number" | "outputs" }
      ? string | number
      : string;

type Flat<T> = { [K in keyof T]: T[K] };

/** What a flow holds of a node with these properties, once it is brought up to date. */
export type Saved<T extends PropertyTable> = Flat<
  {
    /** Of what is saved, for migrations. */
    version: number;
  } & {
    -readonly [K in keyof T as T[K] extends { kind: "credential" | "outputs" } ? never : K]: ValueOf<T[K]>;
  } & {
    -readonly [K in keyof T & string as T[K] extends { kind: "typed" } ? `${K}Type` : never]: string;
  }
>;

/** What holds where a flow says nothing. */
export function defaultsOf<const T extends PropertyTable>(table: T): Saved<T> {
  const values = savedValues(table, (property) => property.ifBlank ?? property.default);
  return { version: 1, ...values } as Saved<T>;
}

/** What a node is saved with that has just been made, beside its version. */
export function newValuesOf(table: PropertyTable): Record<string, string | number | boolean> {
  return savedValues(table, (property) => property.default);
}

function savedValues(
  table: PropertyTable,
  numberOf: (property: NumberProperty) => number,
): Record<string, string | number | boolean> {
  const values: Record<string, string | number | boolean> = {};
  for (const [name, property] of Object.entries(table)) {
    switch (property.kind) {
      case "number":
        values[name] = numberOf(property);
        break;
      case "typed":
        values[name] = property.default;
        values[`${name}Type`] = property.type;
        break;
      case "text":
      case "choice":
      case "flag":
        values[name] = property.default;
        break;
      case "config":
      case "nameFrom":
        values[name] = "";
        break;
      case "credential":
      case "outputs":
    }
  }
  return values;
}
