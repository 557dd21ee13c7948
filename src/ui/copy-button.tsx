import type { VNode } from "preact";

interface CopyButtonProps {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly say: (text: string) => void;
}

/** A text that a click copies. */
export function CopyButton({ id, title, text, say }: CopyButtonProps): VNode {
  async function copy(button: Element): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied.");
    } catch {
      // A page may not be allowed to copy; then the text is selected for the user.
      getSelection()?.selectAllChildren(button);
      say("Press Ctrl+C to copy.");
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
      {text}
    </button>
  );
}
