import type { VNode } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";

const shownMs = 6000;

interface Notice {
  /** The last text, at the bottom of the page. */
  readonly notice: VNode;
  /** Shows a text for some seconds. */
  readonly say: (text: string) => void;
}

export function useNotice(): Notice {
  const [text, setText] = useState("");
  const [isShown, setShown] = useState(false);
  const timer = useRef(0);
  const say = useCallback((next: string) => {
    clearTimeout(timer.current);
    setText(next);
    setShown(true);
    timer.current = setTimeout(() => setShown(false), shownMs);
  }, []);
  const notice = (
    <p id="notice" class={isShown ? "notice shown" : "notice"} role="status">
      {text}
    </p>
  );
  return { notice, say };
}
