/** One open edit dialog. */
export interface Form {
  /** The field of a saved property: the input as Node-RED knows it, or the select of a config node. */
  field(property: string): JQuery;
  /** What the field holds now, as it would be saved. */
  value(property: string): string;
  /** Shows the rows of these properties, or hides them. */
  show(properties: readonly string[], visible: boolean): void;
  /** Runs `act` now and whenever one of these fields changes. */
  follow(properties: readonly string[], act: () => void): void;
}

interface Edited {
  readonly id: string;
  readonly _def: {
    readonly category: string;
    readonly defaults: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

const dialogs = {
  node: { form: "#dialog-form", prefix: "#node-input-" },
  config: { form: "#node-config-dialog-edit-form", prefix: "#node-config-input-" },
} as const;

function kindOf(node: object): keyof typeof dialogs {
  return (node as Edited)._def.category === "config" ? "config" : "node";
}

/**
 * The dialog that has just been opened for this node; to be called first in its oneditprepare. A property that an
 * imported flow does not have shows its default, which is what the runtime takes too.
 */
export function openForm(node: object): Form {
  const { form, prefix } = dialogs[kindOf(node)];
  const { id, _def } = node as Edited;
  $(form).data("dimensionerNode", id);
  // The editor does it too, but later: names for screen readers are made of the labels' texts.
  $(form).i18n();
  const field = (property: string) => $(prefix + property);
  for (const [property, { value }] of Object.entries(_def.defaults)) {
    if (Reflect.get(node, property) === undefined && typeof value !== "boolean") {
      field(property).val(String(value));
    }
  }
  return {
    field,
    value: (property) => fieldValue(field(property)),
    show(properties, visible) {
      for (const property of properties) {
        field(property).closest(".form-row").toggle(visible);
      }
    },
    follow(properties, act) {
      for (const property of properties) {
        field(property).on("change keyup paste", act);
      }
      act();
    },
  };
}

/**
 * What a property is now: the dialog's field while this very node is being edited, else what is saved. The editor
 * validates other nodes too while a dialog is open, and their fields have the same ids.
 */
export function currentValue(node: object, property: string): string {
  const { form, prefix } = dialogs[kindOf(node)];
  const input = $(prefix + property);
  if (input.length > 0 && $(form).data("dimensionerNode") === (node as Edited).id) {
    return fieldValue(input);
  }
  const saved: unknown = Reflect.get(node, property) ?? (node as Edited)._def.defaults[property]?.value;
  return typeof saved === "string" ? saved : (JSON.stringify(saved) ?? "");
}

/** A node's saved properties, each with its default where an imported flow does not have it. */
export function settingsOf<P extends object>(node: object, defaults: P): P {
  const saved = Object.keys(defaults)
    .map((property): [string, unknown] => [property, Reflect.get(node, property)])
    .filter(([, value]) => value !== undefined && value !== null);
  return Object.assign({ ...defaults }, Object.fromEntries<unknown>(saved));
}

function fieldValue(input: JQuery): string {
  if (input.attr("type") === "checkbox") {
    return String(input.prop("checked"));
  }
  const value = String(input.val() ?? "");
  // The editor's own mark for "no config node chosen".
  return value === "_ADD_" ? "" : value;
}
