import type { VNode } from "preact";

import { CopyButton } from "../../ui/copy-button.tsx";

interface CopiedProps {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly say: (text: string) => void;
}

/** A text that a click copies. */
export function Copied(props: CopiedProps): VNode {
  return <CopyButton {...props} copied="Copied." notCopied="Press Ctrl+C to copy." />;
}
