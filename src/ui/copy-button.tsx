import type { VNode } from "preact";

interface CopyButtonProps {
  readonly id: string;
  readonly title: string;
  /** What is copied. */
  readonly text: string;
  /** What the button shows, if it is not the text itself. */
  readonly label?: string;
  /** What is said when it was copied, and when the browser does not allow that. */
  readonly copied: string;
  readonly notCopied: string;
  readonly say: (text: string) => void;
}

/** A text that a click copies. */
export function CopyButton(props: CopyButtonProps): VNode {
  const { id, title, text, label = text, copied, notCopied, say } = props;
  async function copy(button: Element): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      say(copied);
    } catch {
      // A page may not be allowed to copy; then the text is selected for the user.
      getSelection()?.selectAllChildren(button);
      say(notCopied);
    }
  }
  return (
    <button
      type="button"
      class="copy"
      id={id}
      title={title}
      onClick={({ currentTarget }) => void copy(currentTarget)}
    >
      {label}
    </button>
  );
}
