import type { NumberKind } from "../rules/numbers.ts";

/**
 * The saved properties of a node type, defined once, as plain data. Such a table yields the type of the saved object,
 * the defaults (`defaultsOf`), the validation in the runtime (src/runtime/config/settings.ts) and in the editor
 * (src/editor/fields.ts), and at build time the form and the editor's `defaults` (tools/editor-html.ts).
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

/** The row of a property in the form, and when it is shown. */
interface Row {
  /** The Font Awesome name of the icon before the label. */
  readonly icon?: string;
  /**
   * Key of the label; `label.<property>` if not given. Keys with the prefix `shared:` are in the catalog that all types
   * share, the others in the type's own.
   */
  readonly label?: string;
  /** Key of the placeholder, or the text itself if it is the same in every language. */
  readonly placeholder?: string | { readonly text: string };
  /** Key of the note below the field. */
  readonly note?: string;
  /** Consecutive rows of one group are framed together. */
  readonly group?: Group;
  /** Shown in the advanced section at the end of the form. */
  readonly isAdvanced?: true;
  /** Shown and validated only if each of these other properties has one of these values. */
  readonly when?: Readonly<Record<string, readonly (string | boolean)[] | "given">>;
}

export interface Group {
  /** Keys of the heading, and of a note below it. */
  readonly legend: string;
  readonly note?: string;
}

/** The names of the rules for plain text. */
export type TextRule =
  | "applicationIdentifier"
  | "baseUrl"
  | "bucketEndpoint"
  | "bucketName"
  | "bucketPrefix"
  | "codeKinds"
  | "databaseHost"
  | "deviceAddress"
  | "fileName"
  | "headerName"
  | "layout"
  | "limits"
  | "pattern"
  | "registrationCode"
  | "timestampServer"
  | "ipAddresses"
  | "pagePath"
  | "pageUrl"
  | "webhookPath";

export interface TextProperty extends Row {
  readonly kind: "text";
  readonly default: string;
  readonly rule?: TextRule | "messageProperties";
  /** Key of the error for a blank field, if it must not be blank. */
  readonly required?: string;
  /** Whether the dialog fills it in by itself and does not show it. */
  readonly isHidden?: true;
}

export interface NumberProperty extends Row {
  readonly kind: "number";
  readonly of: NumberKind;
  readonly default: number;
  /** The defaults: the value of each property that a saved node does not have. */
  readonly ifBlank?: number;
}

export interface ChoiceProperty extends Row {
  readonly kind: "choice";
  readonly of: readonly string[];
  readonly default: string;
  /** Key of the choices' texts; `<property>` if not given. Each choice has its text below it. */
  readonly texts?: string;
  /** Whether a choice, if it is the name of another property, requires that property to be blank. */
  readonly occupies?: true;
  /** The choices with a tip below the row, and the key of all tips. */
  readonly tips?: { readonly key: string; readonly of: readonly string[] };
}

export interface FlagProperty extends Row {
  readonly kind: "flag";
  readonly default: boolean;
}

/** A value and its type, which is saved as `<property>Type`. */
export interface TypedProperty extends Row {
  readonly kind: "typed";
  readonly default: string;
  /** The defaults: the value of each property that a saved node does not have. */
  readonly ifBlank?: string;
  readonly type: ValueType;
  readonly types?: readonly ValueType[];
  /** The rule for a value of type str. */
  readonly rule?: TextRule;
  readonly required?: string;
}

export type ValueType = "msg" | "flow" | "global" | "str" | "jsonata" | "env";

/** The types of a value that may come from a message. */
export const valueTypes = ["msg", "flow", "global", "str", "jsonata", "env"] as const satisfies ValueType[];

/** The types of a folder, which must never come from a message. */
export const folderTypes = ["str", "env", "flow", "global"] as const satisfies ValueType[];

/** The types of a store's folder, which stays the same as long as the store is deployed. */
export const storeFolderTypes = ["str", "env"] as const satisfies ValueType[];

/** The folder of a new store, in Node-RED's user directory: the only one that is made. */
export const ownPackagesFolder = "dimensioner/packages";

/** The id of a config node. */
export interface ConfigProperty extends Row {
  readonly kind: "config";
  readonly of: string;
  /**
   * The property that may contain the name of a message property by which messages select another deployed node.
   * Without it no message can.
   */
  readonly from?: string;
  /** Key of the error if no node is selected although one is required. */
  readonly required?: string;
  /** Whether the node also works, with fewer functions, without one. */
  readonly isOptional?: true;
  /** The generation that the selected device must have. */
  readonly generation?: "newer";
}

/** The name of a message property that holds the name of a deployed config node; blank: the selected one. */
export interface NameFromProperty extends Row {
  readonly kind: "nameFrom";
}

/**
 * Saved separately and encrypted. The editor knows only whether there is one, except of a `list`, which contains nothing that
 * would open anything.
 */
export interface CredentialProperty extends Row {
  readonly kind: "credential";
  /** Whether the dialog has an editor of its own for it, instead of a field for a password. */
  readonly isList?: true;
  /** Whether it is shown in the dialog, because it opens nothing on its own. */
  readonly isShown?: true;
  readonly required?: string;
  /** What the dialog says while something was entered that is not in the list yet. */
  readonly unfinished?: string;
}

/** The number of outputs, a property of the editor itself. */
export interface OutputsProperty extends Row {
  readonly kind: "outputs";
}

type ValueOf<P> = P extends { kind: "choice"; of: readonly (infer TChoice)[] }
  ? TChoice
  : P extends { kind: "flag" }
    ? string | boolean
    : P extends { kind: "number" | "outputs" }
      ? string | number
      : string;

type Flat<T> = { [K in keyof T]: T[K] };

/** The saved object of a node with these properties, after its migration. */
export type Saved<T extends PropertyTable> = Flat<
  {
    /** The version of the saved object, for migrations. */
    version: number;
  } & {
    -readonly [K in keyof T as T[K] extends { kind: "credential" | "outputs" } ? never : K]: ValueOf<T[K]>;
  } & {
    -readonly [K in keyof T & string as T[K] extends { kind: "typed" } ? `${K}Type` : never]: string;
  }
>;

/** The defaults: the value of each property that a saved node does not have. */
export function defaultsOf<const T extends PropertyTable>(table: T): Saved<T> {
  const values = savedValues(table, false);
  return { version: 1, ...values } as Saved<T>;
}

/** The saved object of a new node, except its version. */
export function newValuesOf(table: PropertyTable): Record<string, string | number | boolean> {
  return savedValues(table, true);
}

function savedValues(table: PropertyTable, isNew: boolean): Record<string, string | number | boolean> {
  const values: Record<string, string | number | boolean> = {};
  for (const [name, property] of Object.entries(table)) {
    switch (property.kind) {
      case "number":
        values[name] = isNew ? property.default : (property.ifBlank ?? property.default);
        break;
      case "typed":
        values[name] = isNew ? property.default : (property.ifBlank ?? property.default);
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
