import type { ComponentChildren, VNode } from "preact";

interface Choice<T extends string> {
  readonly value: T;
  readonly label: ComponentChildren;
  readonly isDisabled?: boolean;
}

interface ChoicesProps<T extends string> {
  readonly id: string;
  readonly class: string;
  readonly legend: VNode;
  readonly name: string;
  readonly choices: readonly Choice<T>[];
  /** The selected value; none is selected if it is not among the choices. */
  readonly value: string;
  readonly onChoose: (value: T) => void;
}

/** A group of radio buttons. */
export function Choices<T extends string>(props: ChoicesProps<T>): VNode {
  const { id, class: classes, legend, name, choices, value: selected, onChoose } = props;
  return (
    <fieldset id={id} class={classes}>
      {legend}
      {choices.map(({ value, label, isDisabled = false }) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={value === selected}
            disabled={isDisabled}
            onChange={() => onChoose(value)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
