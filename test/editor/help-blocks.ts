/** What stands between two block tags of a help page. */
export interface HelpBlock {
  /** The block tag before it, with its attributes: `<dt class="optional">`, `</ul>`. */
  readonly tag: string;
  /** The inline tags in it, sorted, since languages differ in the order of words. */
  readonly inline: readonly string[];
  /** The contents of its `<code>`, sorted. */
  readonly codes: readonly string[];
  /** The contents of its `<i>`, in their order. */
  readonly names: readonly string[];
  /** The types of the properties in it: "string", "number". */
  readonly types: readonly string[];
  /** What is to be read, without code and without the types of properties. */
  readonly text: string;
}

const blockTags = /(<\/?(?:script|p|h[1-6]|dl|dt|dd|ol|ul|li)\b[^>]*>)/;

/** The blocks of a help page in their order; the first is its `<script>`. */
export function helpBlocks(html: string): HelpBlock[] {
  const [, ...rest] = html.split(blockTags);
  return Array.from({ length: rest.length / 2 }, (_, at) => {
    const content = rest[2 * at + 1] ?? "";
    return {
      tag: rest[2 * at] ?? "",
      inline: (content.match(/<[^>]*>/g) ?? []).toSorted(),
      codes: contentsOf(content, "code").toSorted(),
      names: contentsOf(content, "i"),
      types: contentsOf(content, "span").flatMap((type) => type.split(" | ")),
      text: content
        .replace(/<code>.*?<\/code>|<span class="property-type">.*?<\/span>/gs, "")
        .replace(/<[^>]*>/g, "")
        .replace(/\s+/g, " ")
        .trim(),
    };
  });
}

function contentsOf(content: string, tag: string): string[] {
  return [...content.matchAll(new RegExp(`<${tag}\\b[^>]*>(.*?)</${tag}>`, "gs"))].map(([, inner = ""]) =>
    inner.replace(/\s+/g, " "),
  );
}
