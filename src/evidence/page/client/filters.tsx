import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

import { visibleText } from "../../../rules/visible-text.ts";
import { nameOfWork, works } from "../../../rules/works.ts";
import { listChoices, noFilter, type Filter } from "./api.ts";
import type { Choices } from "./shapes.ts";
import type { Shared } from "./shared.ts";

interface FiltersProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly shared: Shared;
}

const flags = { film: "withVideo", onHold: "onHold", incomplete: "incomplete" } as const;

/** What of the packages is shown. It is open while a filter is set, so that nobody misses what it hides. */
export function Filters({ filter, onFilter, shared: { words, fail } }: FiltersProps): VNode {
  const [{ devices, works: own }, setChoices] = useState<Choices>({ devices: [], works: [] });
  const isSet = Object.values(filter).some((value) => value !== "" && value !== false);
  const [isOpen, setOpen] = useState(isSet);
  useEffect(() => {
    listChoices().then(setChoices, fail);
  }, []);
  const change = (more: Partial<Filter>): void => onFilter({ ...filter, ...more });
  const day = (name: "from" | "to"): VNode => (
    <label>
      {words.say(name)}
      <input
        type="date"
        id={`filter-${name}`}
        value={filter[name]}
        onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
      />
    </label>
  );
  const choice = (
    name: "device" | "work",
    all: "allDevices" | "allWork",
    options: readonly (readonly [value: string, text: string])[],
  ): VNode => (
    <label>
      {words.say(name)}
      <select
        id={`filter-${name}`}
        value={filter[name]}
        onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
      >
        <option value="">{words.say(all)}</option>
        {options.map(
          ([value, text]) =>
            value !== "" && (
              <option key={value} value={value}>
                {visibleText(text)}
              </option>
            ),
        )}
      </select>
    </label>
  );
  return (
    <details
      id="filters"
      open={isOpen || isSet}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{words.say("filters")}</summary>
      <div class="row">
        {choice(
          "device",
          "allDevices",
          [...new Set([...devices, filter.device])].map((device) => [device, device]),
        )}
        {choice(
          "work",
          "allWork",
          [...new Set([...works, ...own, filter.work])].map((work) => [
            work,
            nameOfWork(work, (key) => words.say(key)),
          ]),
        )}
        {day("from")}
        {day("to")}
        {(["film", "onHold", "incomplete"] as const).map((name) => (
          <label key={name} class="tick">
            <input
              type="checkbox"
              id={`filter-${name}`}
              checked={filter[name]}
              onChange={({ currentTarget }) => change({ [name]: currentTarget.checked })}
            />
            {words.say(flags[name])}
          </label>
        ))}
        {isSet && (
          <button type="button" id="clear-filters" onClick={() => onFilter(noFilter)}>
            {words.say("clearFilters")}
          </button>
        )}
      </div>
    </details>
  );
}
