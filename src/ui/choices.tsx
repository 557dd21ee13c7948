import { type ComponentChildren, type VNode, createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

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

/** The last state that the server has sent; each one is another object. */
export const ServerState = createContext<unknown>(undefined);

interface Sent<T> {
  readonly value: T;
  readonly isAccepted: boolean;
}

/**
 * A value of the server's state that the user changes. What the user has chosen is shown until the server has refused it, or
 * has accepted it and sends its next state: an older state would undo the choice for a moment.
 *
 * @param send resolves with whether the server has accepted the value
 */
export function useChosen<T>(value: T, send: (next: T) => Promise<boolean>): [T, (next: T) => void] {
  const state = useContext(ServerState);
  const [sent, setSent] = useState<Sent<T>>();
  useEffect(() => setSent((last) => (last?.isAccepted === true ? undefined : last)), [state]);

  async function choose(next: T): Promise<void> {
    const mine = { value: next, isAccepted: false };
    setSent(mine);
    const ended = (await send(next)) ? { value: next, isAccepted: true } : undefined;
    setSent((last) => (last === mine ? ended : last));
  }
  return [sent === undefined ? value : sent.value, (next) => void choose(next)];
}

interface SwitchProps {
  readonly id: string;
  readonly isOn: boolean;
  /** Resolves with whether the server has accepted the change. */
  readonly send: (on: boolean) => Promise<boolean>;
  readonly title?: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A switch for something that a server keeps. */
export function Switch({ id, isOn, send, title, class: classes, children }: SwitchProps): VNode {
  const [on, choose] = useChosen(isOn, send);
  return (
    <label title={title} class={classes}>
      <input
        type="checkbox"
        role="switch"
        id={id}
        checked={on}
        onChange={({ currentTarget }) => choose(currentTarget.checked)}
      />{" "}
      {children}
    </label>
  );
}
