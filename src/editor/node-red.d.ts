import type { EditorRED } from "node-red";
import type { Fields } from "./fields.ts";

/** What @types/node-red does not say yet about Node-RED's editor, 4.1 and 5.0. */
declare module "@node-red/editor-client" {
  /** Names the field in a sentence; absent where the sentence stands below the field. */
  interface CheckOptions {
    label?: string;
  }

  interface CheckedProperty<TValue, TProps extends NodeProperties> {
    value: TValue;
    type?: string;
    required?: boolean;
    label?: string;
    /** Two arguments: the editor then takes a string as the reason why the value is wrong. */
    validate?: (this: NodeInstance<TProps>, value: string, options?: CheckOptions) => true | string;
  }

  type CheckedNodeDef<TProps extends NodeProperties, TCreds> = Omit<
    NodeDef<TProps, TCreds>,
    "defaults" | "credentials"
  > & {
    defaults: { [K in keyof TProps]-?: CheckedProperty<TProps[K], TProps> };
    credentials?: {
      [K in keyof TCreds]: NodeCredential & Omit<CheckedProperty<string, TProps>, "value" | "type">;
    };
  };

  interface NodesRegistry {
    registerNodeType<TProps extends NodeProperties, TCreds = undefined>(
      type: string,
      def: CheckedNodeDef<TProps, TCreds>,
    ): void;
  }

  interface Annotation {
    type: "badge";
    class: string;
    element: () => SVGElement;
    filter: (node: { id: string; type: string }) => boolean;
    show: (node: { id: string; type: string }) => boolean;
    tooltip: () => string;
    /** Node-RED 5 alone. */
    popover: {
      direction: string;
      maxWidth: number;
      content: (node: { id: string }) => JQuery;
    };
  }

  interface View {
    annotations: { register(id: string, annotation: Annotation): void };
  }

  interface Utils {
    validateTypedProperty(value: string, type: string, options?: CheckOptions): true | string;
  }
}

declare global {
  const RED: EditorRED;

  /**
   * The build writes the saved properties in this place, one by one: others read them from the page without running it
   * (tools/editor-html.ts).
   */
  function editorDefaults(fields: Fields): never;
  function editorCredentials(fields: Fields): never;

  // TypeScript merges this with jQuery's own declaration only if the type parameter is the same.
  interface JQuery<TElement = HTMLElement> {
    /** Fills in the texts that `data-i18n` names. */
    i18n(): this;
  }
}
