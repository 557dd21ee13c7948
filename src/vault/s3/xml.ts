/** An element of the XML that an object store sends. Attributes are left out: S3 uses none that matter. */
export interface XmlElement {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** S3 nests its answers four levels deep at most. */
const deepest = 16;
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const tag = /^(\/?)([\w:.-]+).*?(\/?)$/s;

interface Open {
  name: string;
  text: string;
  children: XmlElement[];
}

/**
 * Reads the root element; undefined if the text is not well-formed XML as S3 writes it. The time that it takes depends on the
 * length of the text only, whatever a server sends.
 */
export function readXml(text: string): XmlElement | undefined {
  const top: Open = { name: "", text: "", children: [] };
  const open: Open[] = [top];
  for (let at = 0; at < text.length;) {
    const inner = open.at(-1);
    const start = text.indexOf("<", at);
    if (inner === undefined || open.length > deepest) {
      return undefined;
    }
    inner.text += decode(text.slice(at, start < 0 ? text.length : start));
    if (start < 0) {
      break;
    }
    const end = text.indexOf(">", start);
    if (end < 0 || !readTag(text.slice(start + 1, end), inner, open)) {
      return undefined;
    }
    at = end + 1;
  }
  return open.length === 1 && top.children.length === 1 ? top.children[0] : undefined;
}

/** Opens or closes an element. False if that is not possible here. */
function readTag(content: string, inner: Open, open: Open[]): boolean {
  if (/^[?!]/.test(content)) {
    return true;
  }
  const [, slash, name, isEmpty] = tag.exec(content) ?? [];
  if (name === undefined) {
    return false;
  }
  if (slash === "/") {
    return open.length > 1 && open.pop()?.name === name;
  }
  const element: Open = { name, text: "", children: [] };
  inner.children.push(element);
  if (isEmpty !== "/") {
    open.push(element);
  }
  return true;
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
