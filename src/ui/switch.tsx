import type { ComponentChildren, VNode } from "preact";

import { useChosen } from "./chosen.ts";

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
