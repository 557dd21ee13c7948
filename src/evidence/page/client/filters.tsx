import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

import { visibleText } from "../../../rules/visible-text.ts";
import { listDevices, noFilter, type Filter } from "./api.ts";
import type { Shared } from "./shared.ts";

interface FiltersProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly shared: Shared;
}

const flags = { film: "withVideo", onHold: "onHold", incomplete: "incomplete" } as const;

/** What of the packages is shown. It is open while a filter is set, so that nobody misses what it hides. */
export function Filters({ filter, onFilter, shared: { words, fail } }: FiltersProps): VNode {
  const [devices, setDevices] = useState<readonly string[]>([]);
  const isSet = Object.values(filter).some((value) => value !== "" && value !== false);
  const [isOpen, setOpen] = useState(isSet);
  useEffect(() => {
    listDevices().then(setDevices, fail);
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
  return (
    <details
      id="filters"
      open={isOpen || isSet}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{words.say("filters")}</summary>
      <div class="row">
        <label>
          {words.say("device")}
          <select
            id="filter-device"
            value={filter.device}
            onChange={({ currentTarget }) => change({ device: currentTarget.value })}
          >
            <option value="">{words.say("allDevices")}</option>
            {devices.map((device) => (
              <option key={device} value={device}>
                {visibleText(device)}
              </option>
            ))}
          </select>
        </label>
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
