import type { CheckOptions } from "@node-red/editor-client";
import { isEnvironment, type Check } from "./checks.ts";
import { currentValue } from "./form.ts";
import { shared, type Texts } from "./texts.ts";
import { folderTypes, valueTypes } from "./typed-input.ts";

/** The definition of one saved property. */
export interface Field<T> {
  value: T;
  readonly label: string;
  validate(this: object, value: string, options?: CheckOptions): true | string;
}

export interface ConfigField extends Field<string> {
  type: string;
}

export interface CredentialField extends Field<string> {
  type: "password";
}

/** Whether a property matters, given how the others are set; one that does not is never wrong. */
export type Matters = (now: (property: string) => string) => boolean;

export interface FieldRules {
  check?: Check;
  matters?: Matters;
  texts?: Texts;
}

/** A property with a plain value. */
export function plain<P extends object, K extends keyof P & string>(
  defaults: P,
  property: K,
  { check = () => null, matters = () => true, texts = shared }: FieldRules,
): Field<P[K]> {
  return field(defaults[property], property, texts, (node, value) => {
    const now = (other: string) => currentValue(node, other);
    return matters(now) ? check(value, now) : null;
  });
}

/** A credential; the editor knows only whether there is one, and hands a placeholder for it. */
export function credential(
  property: string,
  { check = () => null, texts = shared }: FieldRules,
): CredentialField {
  const definition = field("", property, texts, (node, value) =>
    check(value, (other) => currentValue(node, other)),
  );
  return Object.assign(definition, { type: "password" as const });
}

export interface TypedRules extends FieldRules {
  /** For a value that has to be given: which sentence says so when it is not. */
  required?: string;
  types?: readonly string[];
}

/** A property whose type is saved beside it, in `<property>Type`. `check` looks at plain strings. */
export function typed<P extends object, K extends keyof P & string>(
  defaults: P,
  property: K,
  { check = () => null, matters = () => true, texts = shared, required, types = valueTypes }: TypedRules = {},
): Field<P[K]> {
  return field(defaults[property], property, texts, (node, value) => {
    const now = (other: string) => currentValue(node, other);
    if (!matters(now)) {
      return null;
    }
    const type = now(`${property}Type`);
    if (!types.includes(type)) {
      return shared("problem.choice");
    }
    if (value.trim() === "") {
      return required === undefined ? null : shared(`problem.${required}`);
    }
    if (type === "str") {
      return check(value, now);
    }
    const valid = RED.utils.validateTypedProperty(value, type, {});
    return valid === true ? null : valid;
  });
}

/** The folder that files are saved in. */
export function folder<P extends object, K extends keyof P & string>(defaults: P, property: K): Field<P[K]> {
  return typed(defaults, property, {
    types: folderTypes,
    required: "folder",
    matters: (now) => now("output") === "file",
  });
}

/** A config node; `alternative` names the property that can stand in for it, and `fits` says what else has to be true. */
export function config<P extends Record<K, string>, K extends string>(
  defaults: P,
  property: K,
  type: string,
  alternative: string,
  fits: (chosen: object) => string | null = () => null,
): ConfigField {
  const base = field<string>(defaults[property], property, shared, (node, value) => {
    if (value === "" || value === "_ADD_") {
      return currentValue(node, alternative) === "" ? shared(`problem.${property}Missing`) : null;
    }
    const chosen = RED.nodes.node(value);
    if (chosen === null || chosen === undefined) {
      return shared("problem.configGone");
    }
    return Reflect.get(chosen, "valid") === false ? shared("problem.configInvalid") : fits(chosen);
  });
  return Object.assign(base, { type });
}

/** A config node that may be left out; the editor's own check looks after it. */
export function optionalConfig<P extends Record<K, string>, K extends string>(
  defaults: P,
  property: K,
  type: string,
  texts: Texts,
): { value: string; type: string; required: false; readonly label: string } {
  return {
    value: defaults[property],
    type,
    required: false,
    get label() {
      return texts(`label.${property}`);
    },
  };
}

/** The name of a message property, or blank. */
export function messageProperty<P extends object, K extends keyof P & string>(
  defaults: P,
  property: K,
): Field<P[K]> {
  return field(defaults[property], property, shared, (_node, value) => {
    const valid = value === "" || RED.utils.validateTypedProperty(value, "msg", {});
    return valid === true ? null : valid;
  });
}

/**
 * The label is looked up when it is needed: with a package that was installed a moment ago, the shared catalog may arrive
 * after this type's script.
 */
function field<T>(
  value: T,
  property: string,
  texts: Texts,
  problemOf: (node: object, value: string) => string | null,
): Field<T> {
  return {
    value,
    get label() {
      return texts(`label.${property}`);
    },
    // Two declared arguments tell the editor that a string is the reason why the value is wrong.
    validate(given, options) {
      const now = String(given ?? value);
      const problem = isEnvironment(now) ? null : problemOf(this, now);
      if (problem === null) {
        return true;
      }
      const label = options?.label;
      return label === undefined ? problem : shared("problem.labelled", { label, problem });
    },
  };
}
