import type { VNode } from "preact";
import { useCallback, useState } from "preact/hooks";

import { ExportButton } from "./downloads.tsx";
import type { Shared } from "./shared.ts";

/** As many as one export may have. */
const mostPackages = 100;

/** The packages that are exported together. */
export interface Case {
  readonly ids: ReadonlySet<string>;
  readonly isFull: boolean;
  readonly change: (id: string, isInCase: boolean) => void;
  readonly empty: () => void;
}

/** A case that lasts for as long as the page is open, so that packages of several searches can come into it. */
export function useCase(): Case {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const change = useCallback((id: string, isInCase: boolean): void => {
    setIds((before) => new Set(isInCase ? [...before, id] : [...before].filter((one) => one !== id)));
  }, []);
  const empty = useCallback(() => setIds(new Set()), []);
  return { ids, isFull: ids.size >= mostPackages, change, empty };
}

/** Says how many packages are in the case, and exports them. */
export function CaseBar({
  chosen: { ids, empty },
  shared,
}: {
  readonly chosen: Case;
  readonly shared: Shared;
}): VNode {
  const { words } = shared;
  return (
    <div class="row" id="case">
      <span role="status">{words.say("caseCount", { count: ids.size })}</span>
      <ExportButton id="export-case" label={words.say("exportCase")} packages={[...ids]} shared={shared} />
      <button type="button" id="empty-case" onClick={empty}>
        {words.say("emptyCase")}
      </button>
    </div>
  );
}
