import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { askExport, askTable, type Filter } from "./api.ts";
import type { Shared } from "./shared.ts";

interface ExportButtonProps {
  readonly id: string;
  readonly label: string;
  /** The IDs of the packages. */
  readonly packages: readonly string[];
  readonly shared: Shared;
}

/** Downloads packages as a ZIP with a report, for a claim if its number is given. The server verifies them first, so the download may begin a while later. */
export function ExportButton({
  id,
  label,
  packages,
  shared: { words, say, fail },
}: ExportButtonProps): VNode {
  const [isAsking, setAsking] = useState(false);
  const claim = useRef<HTMLInputElement>(null);

  async function download(): Promise<void> {
    setAsking(true);
    try {
      const link = document.createElement("a");
      link.href = await askExport(packages, claim.current?.value ?? "");
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
    <div class="row export">
      <label for={`${id}-claim`}>{words.say("claim")}</label>
      <input ref={claim} id={`${id}-claim`} maxLength={100} />
      <button type="button" id={id} aria-disabled={isAsking} onClick={() => !isAsking && void download()}>
        {label}
      </button>
    </div>
  );
}

interface TableButtonProps {
  readonly text: string;
  readonly filter: Filter;
  readonly shared: Shared;
}

/** Saves all packages that the search and the filter find as CSV, and says where there are more than one file can have. */
export function TableButton({ text, filter, shared: { words, say, fail } }: TableButtonProps): VNode {
  const [isAsking, setAsking] = useState(false);

  async function save(): Promise<void> {
    setAsking(true);
    say(words.say("tableBegun"));
    try {
      const { content, filename, count, more } = await askTable(text, filter);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(content);
      link.download = filename;
      link.click();
      URL.revokeObjectURL(link.href);
      say(words.say(more ? "tableCut" : "tableSaved", { count }));
    } catch (error) {
      fail(error);
    } finally {
      setAsking(false);
    }
  }
  return (
    <p>
      <button type="button" id="save-table" aria-disabled={isAsking} onClick={() => !isAsking && void save()}>
        {words.say("saveTable")}
      </button>
    </p>
  );
}
