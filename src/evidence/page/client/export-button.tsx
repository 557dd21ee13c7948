import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { askExport } from "./api.ts";
import type { Shared } from "./shared.ts";

interface ExportButtonProps {
  readonly id: string;
  readonly label: string;
  /** The IDs of the packages. */
  readonly packages: readonly string[];
  readonly shared: Shared;
}

/** Downloads packages as a ZIP with a report. The server verifies them first, so the download may begin a while later. */
export function ExportButton({
  id,
  label,
  packages,
  shared: { words, say, fail },
}: ExportButtonProps): VNode {
  const [isAsking, setAsking] = useState(false);

  async function download(): Promise<void> {
    setAsking(true);
    try {
      const link = document.createElement("a");
      link.href = await askExport(packages);
      // With a name, a refusal becomes a failed download, and not another page.
      link.download = "evidence.zip";
      link.click();
      say(words.say("exporting"));
    } catch (error) {
      fail(error);
    } finally {
      setAsking(false);
    }
  }
  return (
    <button type="button" id={id} aria-disabled={isAsking} onClick={() => !isAsking && void download()}>
      {label}
    </button>
  );
}
