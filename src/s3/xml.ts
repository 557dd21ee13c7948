/** An element of the XML that an object store sends. Attributes are left out: S3 uses none that matter. */
export interface XmlElement {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** S3 nests its answers four levels deep at most. */
const deepest = 16;
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const token = /<[?!][^>]*>|<(\/?)([\w:.-]+)[^>]*?(\/?)>|([^<]+)/g;

/** Reads the root element; undefined if the text is not well-formed XML as S3 writes it. */
export function readXml(text: string): XmlElement | undefined {
  interface Open {
    name: string;
    text: string;
    children: XmlElement[];
  }
  const top: Open = { name: "", text: "", children: [] };
  const open: Open[] = [top];
  for (const [, slash, name, isEmpty, characters] of text.matchAll(token)) {
    const inner = open.at(-1);
    if (inner === undefined || open.length > deepest) {
      return undefined;
    }
    if (characters !== undefined) {
      inner.text += decode(characters);
    } else if (slash === "/") {
      if (inner.name !== name || open.length === 1) {
        return undefined;
      }
      open.pop();
    } else if (name !== undefined) {
      const element: Open = { name, text: "", children: [] };
      inner.children.push(element);
      if (isEmpty !== "/") {
        open.push(element);
      }
    }
  }
  return open.length === 1 && top.children.length === 1 ? top.children[0] : undefined;
}

/** The text of the first child with this name; undefined if there is none. */
export function childText(element: XmlElement | undefined, name: string): string | undefined {
  return element?.children.find((child) => child.name === name)?.text;
}

/** The children with this name. */
export function childrenOf(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

/** Text for XML. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function decode(text: string): string {
  return text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
    if (name !== undefined) {
      return entities[String(name)] ?? whole;
    }
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
